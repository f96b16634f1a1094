"""tf-idf features against scikit-learn's."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer

from coview.em.tfidf import inverse_frequencies, tfidf


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8"])
def test_features_are_those_of_scikit_learn_on_square_roots(rng, dtype):
    counts = sp.csr_array(
        (rng.poisson(0.4, (30, 12)) * (np.arange(30) != 5)[:, None]).astype(dtype)
    )
    before = counts.toarray()
    roots = counts.astype(np.float32 if dtype == "float32" else np.float64).sqrt()
    expected = TfidfTransformer().fit_transform(roots)
    np.testing.assert_array_equal(tfidf(counts).toarray(), expected.toarray())
    np.testing.assert_array_equal(counts.toarray(), before)  # the input stays as it was


def test_new_documents_are_weighted_by_the_frequencies_of_the_training(rng):
    training, new = (sp.csr_array(rng.poisson(0.4, (n, 12)).astype(float)) for n in (30, 4))
    expected = TfidfTransformer().fit(training.sqrt()).transform(new.sqrt())
    found = tfidf(new, inverse_frequencies(training))
    np.testing.assert_array_equal(found.toarray(), expected.toarray())
