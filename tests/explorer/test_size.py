"""How large a page is: the demo, and 100,000 documents, whose words and texts do not all fit."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import coview
from coview import LinkPLSA, Views
from coview.explorer.explore import explorer_payload
from coview.explorer.page import page_html

MEGABYTE = 1_000_000


def zipf_counts(n_docs, n_terms, n_words, rng):
    """Return counts of words whose frequencies are those of a language."""
    p = 1 / np.arange(1, n_terms + 1)
    rows = np.repeat(np.arange(n_docs), rng.poisson(n_words, n_docs) + 1)
    terms = np.searchsorted(np.cumsum(p) / p.sum(), rng.random(len(rows)))
    ones = np.ones(len(rows), np.float32)
    return sp.csr_array((ones, (rows, terms)), shape=(n_docs, n_terms))


def word(number):
    return "".join(
        "bdfgklmnprst"[d % 12] + "aeiou"[d % 5] for d in (number, number // 60, number // 7)
    )


@pytest.mark.slow
def test_a_hundred_thousand_documents_fit_into_25_megabytes(rng):
    n, k = 100_000, 50
    widths = {"text": 20_000, "tags": 8_000}
    views = Views(
        {name: zipf_counts(n, width, 60, rng) for name, width in widths.items()},
        ids=[f"document-{i:06}" for i in range(n)],
        features={name: [f"{word(i)}{i}" for i in range(w)] for name, w in widths.items()},
        labels=rng.integers(0, 20, n),
    )
    few = views[:2000]
    model = LinkPLSA(k, init="random", max_iter=3, tol=0, ensemble=0.0, random_state=0).fit(few)
    # what a report has of each document, without the hour it takes to compute
    report = coview.report(model, few, n_resamples=1, search_sample=0)
    scores = SimpleNamespace(
        value=rng.random(n), chance=rng.random(n), beyond=rng.random(n), by_pair={}
    )
    mixtures = rng.dirichlet(np.full(k, 0.05), n)
    large = SimpleNamespace(
        **{
            name: getattr(report, name)
            for name in ("model", "views", "topics", "sentences", "tree")
        },
        mixtures=mixtures,
        view_mixtures={name: rng.dirichlet(np.full(k, 0.05), n) for name in widths},
        disagreement=scores,
        fit=rng.random(n),
        labels=views.labels,
        label_names=[str(i) for i in range(20)],
        titles=None,
    )
    names = model.feature_names_["text"]
    texts = [" ".join(names[rng.integers(0, 20_000, 30)]) for _ in range(n)]
    payload = explorer_payload(model, views, report=large, texts={"text": texts})
    assert len(page_html(payload)) <= 25 * MEGABYTE
    assert len(payload.meta["notes"]) == 3  # shares, words and texts
    assert payload.meta["docs"]["snippets"]["text"][0].endswith("…")


@pytest.mark.slow
def test_the_demo_fits_into_three_megabytes():
    from coview.datasets import load_python_api

    views = load_python_api()
    model = LinkPLSA(50, init="random", max_iter=15, tol=0, random_state=0).fit(views)
    report = coview.report(model, views, n_resamples=1, search_sample=0)
    page = page_html(explorer_payload(model, views, report=report))
    assert len(page) <= 3 * MEGABYTE
