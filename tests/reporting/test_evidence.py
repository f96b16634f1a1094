"""No word is shown that too few documents stand behind: a table in three languages with gaps."""

import numpy as np
import pytest
import scipy.sparse as sp

import coview
from coview import LinkPLSA, Views
from coview.reporting.terms import documents_needed, documents_with_view, words_or_dash

N_DOCS, N_TOPICS = 3000, 12
OWN, COMMON, RARE = 30, 60, 2500  # words of each topic, of all topics, and of hardly any document


def language(rng, topics, has):
    """Return the counts of one language: words of the topic, common ones and rare ones."""
    n_terms = N_TOPICS * OWN + COMMON + RARE
    rows, columns = [], []
    for d in np.flatnonzero(has):
        own = topics[d] * OWN + rng.zipf(1.4, 8) % OWN
        common = N_TOPICS * OWN + rng.integers(COMMON, size=4)
        rare = N_TOPICS * OWN + COMMON + rng.integers(RARE, size=3)
        columns.append(np.concatenate([own, common, np.repeat(rare, 1 + rng.integers(4))]))
        rows.append(np.full(len(columns[-1]), d))
    at = np.concatenate(rows), np.concatenate(columns)
    return sp.csr_array((np.ones(len(at[0])), at), shape=(N_DOCS, n_terms))


@pytest.fixture(scope="module")
def table():
    """Return several thousand rows; German is missing from most topics, French from two."""
    rng = np.random.default_rng(0)
    topics = rng.integers(N_TOPICS, size=N_DOCS)
    german = rng.random(N_DOCS) < np.array([0.9, 0.6, *[0.004] * 8, 0.0, 0.02])[topics]
    french = rng.random(N_DOCS) < np.array([*[0.5] * 10, 0.0, 0.006])[topics]
    present = np.column_stack([np.ones(N_DOCS, bool), german, french])
    matrices = {
        name: language(rng, topics, has)
        for name, has in zip(("en", "de", "fr"), present.T, strict=True)
    }
    names = {
        view: np.array([f"{view}{w}" for w in range(m.shape[1])]) for view, m in matrices.items()
    }
    return Views(matrices, features=names, present=present)


@pytest.fixture(scope="module")
def model(table):
    """Return the topics of the table."""
    return LinkPLSA(N_TOPICS, random_state=0, n_jobs=1).fit(table)
