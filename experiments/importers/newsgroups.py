"""Importer of 20 Newsgroups, the version sorted by date: one file for each post."""

import os
import re
from collections.abc import Sequence

import numpy as np

from coview.datasets.registry import dataset
from coview.views.container import Views
from coview.wording import listing, quoted
from experiments.importers.archives import ArchiveError, ArchiveLimits, read_members
from experiments.importers.words import count_words
from experiments.importers.writing import array_bytes, check_target, documents_bytes, write_dataset

_POST = re.compile(r"(?:.*/)?20news-bydate-(train|test)/([^/]+)/(\d+)")


def import_20newsgroups(
    archive: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    min_df: int = 5,
    overwrite: bool = False,
    limits: ArchiveLimits | None = None,
) -> Views:
    """Make the folder `20newsgroups` from `20news-bydate.tar.gz`.

    The archive holds one file for each post, `20news-bydate-train/<group>/<number>` or
    `20news-bydate-test/<group>/<number>`. Posts are put in the order of split (training first),
    group and number, and read as latin-1. scikit-learn downloads the same archive; what it then
    keeps, `20news-bydate_py3.pkz`, is a pickle, which can run any code, and is not read.

    Parameters
    ----------
    archive, out, overwrite, limits
        As in :func:`experiments.importers.import_mfeat`.
    min_df : int, default=5
        Words in fewer posts are left out.

    Returns
    -------
    views : Views
        View `words`: the text after the first blank line in lower case, runs of two letters a-z
        or more, without scikit-learn's English stop words. Quotes and signatures are kept. The
        folder also gets `is_test.npy` and `documents.jsonl.gz` with the whole posts.
    """
    check_target(out, overwrite)
    posts = _read_posts(archive, limits)
    counts, words = count_words([_body(post["text"]) for post in posts], min_df)
    classes = dataset("20newsgroups").classes
    views = Views(
        {"words": counts},
        ids=[f"{post['group']}/{post['id']}" for post in posts],
        labels=[classes.index(post["group"]) for post in posts],
        label_names=classes,
        features={"words": words},
    )
    is_test = np.array([post["split"] == "test" for post in posts])
    extras = {"is_test.npy": array_bytes(is_test), "documents.jsonl.gz": documents_bytes(posts)}
    write_dataset(out, views, extras, overwrite=overwrite)
    return views


def _read_posts(
    archive: str | os.PathLike[str], limits: ArchiveLimits | None
) -> Sequence[dict[str, str]]:
    posts = {}
    for name, data in read_members(archive, lambda n: bool(_POST.fullmatch(n)), limits=limits):
        split, group, number = _POST.fullmatch(name).groups()  # type: ignore[union-attr]
        if (split, group, number) in posts:
            raise ArchiveError(f"{archive} holds the post {quoted(name)} twice.")
        posts[split, group, number] = data.decode("latin-1")
    _check_groups({group for _, group, _ in posts}, archive)
    ordered = sorted(posts, key=lambda key: (key[0] == "test", key[1], int(key[2])))
    return [
        {"id": number, "group": group, "split": split, "text": posts[split, group, number]}
        for split, group, number in ordered
    ]


def _check_groups(found: set[str], archive: str | os.PathLike[str]) -> None:
    if not found:
        raise ArchiveError(
            f"{archive} must hold files such as 20news-bydate-train/alt.atheism/49960; it has none."
        )
    unknown = sorted(found - set(dataset("20newsgroups").classes))
    if unknown:
        raise ArchiveError(f"{archive} has groups that are none of the 20: {listing(unknown)}.")


def _body(text: str) -> str:
    """Return the text after the headers.

    >>> _body("From: a\\nSubject: b\\n\\nHello\\n\\nworld")
    'Hello\\n\\nworld'
    """
    return text.partition("\n\n")[2]
