"""Importer of Wikipedia sections with images, as published by UCSD."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import unescape
from typing import Any

import numpy as np

from coview.datasets.registry import dataset
from coview.views.container import Views
from coview.wording import listing, quoted
from experiments.importers.archives import ArchiveError, ArchiveLimits, base, collect
from experiments.importers.matlab import read_mat
from experiments.importers.words import count_words
from experiments.importers.writing import array_bytes, check_target, documents_bytes, write_dataset

LISTS = {"train": "trainset_txt_img_cat.list", "test": "testset_txt_img_cat.list"}
FEATURES = "raw_features.mat"
STOP_WORDS = "stopwords.txt"
# No XML parser: these files do not need one, and a crafted file could exhaust its memory.
_TEXT = re.compile(r"<text>(.*?)</text>", re.DOTALL)
_TITLE = re.compile(r"<document\b[^>]*\bname=\"([^\"]*)\"")


@dataclass(frozen=True)
class _Pair:
    """One line of a list: a text, its image, its category counted from 1."""

    text: str
    image: str
    category: int
    split: str


def import_wikipedia(
    archive: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    min_df: int = 5,
    overwrite: bool = False,
    limits: ArchiveLimits | None = None,
) -> Views:
    """Make the folder `wikipedia` from `wikipedia_dataset.zip`.

    The archive holds `trainset_txt_img_cat.list` and `testset_txt_img_cat.list` (text, image and
    category of each pair), `raw_features.mat` (`I_tr`, `I_te`: frequencies of SIFT words; `T_tr`,
    `T_te`: proportions of topics) and `texts/*.xml`. Pairs are put in the order of the lists,
    training first. Images are not read.

    Parameters
    ----------
    archive, out, overwrite, limits
        As in :func:`experiments.importers.import_mfeat`.
    min_df : int, default=5
        Words in fewer texts are left out.

    Returns
    -------
    views : Views
        `text_words` (as the words of 20newsgroups; without those of `stopwords.txt` too, if the
        archive has such a file), `image_sift128` and `text_lda10`. The ready-made folder also
        has `text_tfidf1000`, which is not in the archive, and 192 columns fewer in `text_words`
        than an import without `stopwords.txt` gives. The folder gets `is_test.npy` and
        `documents.jsonl.gz` as well.
    """
    check_target(out, overwrite)
    data = dataset("wikipedia")
    files = collect(archive, _is_ours, limits=limits)
    pairs = [pair for split in LISTS for pair in _read_list(files, split, archive)]
    texts = {base(n).removesuffix(".xml"): xml for n, xml in files.items() if n.endswith(".xml")}
    documents = [_document(pair, texts, archive) for pair in pairs]
    stop_words = _find(files, STOP_WORDS)[1].decode("utf-8", "replace").split()
    counts, words = count_words([doc["text"] for doc in documents], min_df, stop_words)
    views = Views(
        {"text_words": counts, **_features(files, pairs, archive)},
        ids=[doc["id"] for doc in documents],
        labels=[pair.category - 1 for pair in pairs],
        label_names=data.classes,
        features={"text_words": words},
    )
    is_test = np.array([pair.split == "test" for pair in pairs])
    extras = {"is_test.npy": array_bytes(is_test), "documents.jsonl.gz": documents_bytes(documents)}
    write_dataset(out, views, extras, overwrite=overwrite)
    return views


def _is_ours(name: str) -> bool:
    return base(name) in (*LISTS.values(), FEATURES, STOP_WORDS) or name.endswith(".xml")


def _find(files: Mapping[str, bytes], wanted: str) -> tuple[str, bytes]:
    """Return the name and contents of a file by its name without folders; empty if missing."""
    return next(((n, data) for n, data in files.items() if base(n) == wanted), ("", b""))


def _need(files: Mapping[str, bytes], wanted: str, archive: Any) -> bytes:
    name, data = _find(files, wanted)
    if not name:
        raise ArchiveError(f"{archive} must hold the file {quoted(wanted)}; it has none.")
    return data


def _read_list(files: Mapping[str, bytes], split: str, archive: Any) -> list[_Pair]:
    n_classes = len(dataset("wikipedia").classes)
    pairs = []
    lines = _need(files, LISTS[split], archive).decode("utf-8-sig", "replace").splitlines()
    for number, line in enumerate(lines, start=1):
        match line.split():
            case []:
                continue
            case [text, image, category] if category in map(str, range(1, n_classes + 1)):
                pairs.append(_Pair(text, image, int(category), split))
            case _:
                raise ArchiveError(
                    f"Line {number:,} of {LISTS[split]} must be a text, an image and a category "
                    f"from 1 to {n_classes}; found {quoted(line)}."
                )
    return pairs


def _document(pair: _Pair, texts: Mapping[str, bytes], archive: Any) -> dict[str, str]:
    # The first line of the published list has a stray letter before the id.
    name = next((n for n in (pair.text, pair.text[1:]) if n in texts), None)
    if name is None:
        raise ArchiveError(f"{archive} must hold the text {quoted(pair.text)}.xml; it has none.")
    xml = texts[name].decode("utf-8", "replace")
    body, title = _TEXT.search(xml), _TITLE.search(xml)
    if body is None:
        raise ArchiveError(f"{quoted(name)}.xml of {archive} has no <text>.")
    return {
        "id": name,
        "image": pair.image,
        "group": dataset("wikipedia").classes[pair.category - 1],
        "split": pair.split,
        "title": unescape(title[1]) if title else "",
        "text": unescape(body[1]).strip(),
    }


def _features(
    files: Mapping[str, bytes], pairs: list[_Pair], archive: Any
) -> dict[str, np.ndarray]:
    variables = read_mat(_need(files, FEATURES, archive), FEATURES)
    missing = [name for name in ("I_tr", "I_te", "T_tr", "T_te") if name not in variables]
    if missing:
        raise ArchiveError(f"{FEATURES} has no variable {listing(missing)}.")
    n_train = sum(pair.split == "train" for pair in pairs)
    n_test = len(pairs) - n_train
    return {
        view: np.vstack(
            [_block(variables, f"{v}_tr", n_train), _block(variables, f"{v}_te", n_test)]
        )
        for view, v in (("image_sift128", "I"), ("text_lda10", "T"))
    }


def _block(variables: dict[str, Any], name: str, n_rows: int) -> np.ndarray:
    found = variables[name]
    if not isinstance(found, np.ndarray) or found.ndim != 2 or len(found) != n_rows:
        raise ArchiveError(
            f"{name} of {FEATURES} must be a matrix of numbers with {n_rows:,} rows, as many as "
            f"its list has lines; found {getattr(found, 'shape', type(found).__name__)}."
        )
    return found.astype(np.float32)
