"""Word counts of texts, for the importers of text collections."""

from collections.abc import Iterable, Sequence

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

from experiments.importers.archives import ArchiveError

PATTERN = r"\b[a-z]{2,}\b"


def count_words(
    texts: Sequence[str], min_df: int, stop_words: Iterable[str] = ()
) -> tuple[sp.csr_array, np.ndarray]:
    """Count runs of two letters a-z or more, in lower case; return (texts x words) and the words.

    scikit-learn's English stop words, further ones given here and words in fewer than `min_df`
    texts are left out.

    >>> X, words = count_words(["A cat, a cat2 and the DOG", "dog!"], min_df=1)
    >>> words.tolist(), X.toarray().tolist()
    (['cat', 'dog'], [[1.0, 1.0], [0.0, 1.0]])
    """
    vectorizer = CountVectorizer(token_pattern=PATTERN, dtype=np.float32)
    try:
        counts = sp.csr_array(vectorizer.fit_transform(texts))
    except ValueError as error:
        raise ArchiveError("The texts have no word.") from error
    words = vectorizer.get_feature_names_out()
    # Not by the vectorizer, which warns of stop words that its pattern would split.
    stops = ENGLISH_STOP_WORDS.union(stop_words)
    frequent = (counts > 0).sum(axis=0) >= min_df
    kept = np.array([column for column in np.flatnonzero(frequent) if words[column] not in stops])
    if not len(kept):
        raise ArchiveError(f"No word but stop words is in {min_df} of the {len(texts):,} texts.")
    return sp.csr_array(counts[:, kept]), words[kept]
