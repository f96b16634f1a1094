"""The payload of a page: what a report says of a model and its documents, as data for the page.

`docs/design.md` has where things are; the arrays are made in `arrays`, and packed in `container`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from coview import __version__
from coview.annotation import trust_in_views
from coview.em.simplex import limits
from coview.explorer.arrays import (
    evidence_arrays,
    rounded,
    sparse_counts,
    sparse_mixtures,
    topics_of_terms,
    words_of_topics,
)
from coview.explorer.budget import Budget, fit_counts, fit_mixtures, fit_terms_left_out, fit_texts
from coview.explorer.container import Payload
from coview.explorer.layout import place_topics
from coview.explorer.layout_umap import umap_places
from coview.explorer.page_recipes import idf_of, page_recipe
from coview.explorer.pictures import small_pictures
from coview.merging import tokens_by_view
from coview.models import topic_model
from coview.reading.left_out import TermsLeftOut, shown_option
from coview.reporting.terms import term_shares
from coview.reporting.value import NOTICEABLE
from coview.retrieval.evidence import Counts, SearchEvidence
from coview.retrieval.gallery import OtherDocuments, check_training_views
from coview.retrieval.learning import learn_evidence, untrained
from coview.tree import TopicTree
from coview.views.container import Views

VERSION = 2
Texts = Mapping[str, Sequence[str | None]]


def payload_of(
    report: Any,
    model: Any,
    views: Views,
    *,
    tree: TopicTree | None = None,
    texts: Texts | None = None,
    pictures: Mapping[str, Sequence[Any]] | None = None,
    title: str | None = None,
    umap: bool = False,
    budget: Budget | None = None,
) -> Payload:
    """Return the data of a page.

    Parameters
    ----------
    report : Report
        Of `coview.report`; its titles are those of the documents.
    model : fitted model or TopicClassifier
    views : Views
        The documents, with the columns of the model.
    tree : TopicTree, optional
        The coarser topics by which the page lists and colors its topics.
    texts : dict of sequence of (str or None), optional
        The raw texts of some views, of which the page shows the beginnings.
    pictures : dict of sequence of (path, array, data URI or None), optional
        By view, the picture of each document.
    title : str, optional
        The title of the page.
    umap : bool, default=False
        Whether to add a layout of the documents by UMAP.
    budget : Budget, optional
        How large the page may be.
    """
    inner, budget = topic_model(model), budget or Budget()
    counts = inner.as_counts(views)
    mixtures = _known_mixtures(report, counts)
    shown = [mixtures, *report.view_mixtures.values()]
    smallest, coarse = fit_mixtures(shown, budget)
    evidence = _evidence(inner, views, counts)
    kept, left_out = fit_counts(evidence, counts, budget)
    dropped = fit_terms_left_out(inner, budget)
    snippets, cut = fit_texts(texts or {}, views.n_docs, budget)
    small, no_room = small_pictures(pictures or {}, budget.picture_bytes)
    meta = {
        "version": VERSION,
        "title": title or "coview",
        "coview": __version__,
        "model": _model_meta(report, inner),
        "n_docs": views.n_docs,
        "n_topics": int(inner.doc_topic_.shape[1]),
        "views": [
            {
                **_view_meta(report, inner, views, name),
                "left_out": _left_out_meta(dropped.get(name)),
            }
            for name in inner.view_names_
        ],
        "topics": _topics_meta(report, inner),
        "levels": _levels_meta(tree),
        "docs": {
            "ids": None if views.ids is None else [str(i) for i in views.ids],
            "titles": report.titles,
            "snippets": snippets,
            "labels": None if report.labels is None else report.labels,
            "label_names": report.label_names or [],
            "pictures": small or None,
        },
        "search": {**_search_meta(inner, counts, evidence), "complete": not left_out},
        "noticeable": NOTICEABLE,
        "pairs": [[_number(inner, a), _number(inner, b)] for a, b in report.disagreement.by_pair],
        "notes": [*coarse, *left_out, *cut, *no_room],
    }
    arrays = sparse_mixtures("theta", mixtures, smallest)
    for name, alone in report.view_mixtures.items():
        arrays |= sparse_mixtures(f"theta.{_number(inner, name)}", alone, smallest)
    arrays |= _arrays(report, inner, views, counts, kept)
    for name, terms in dropped.items():
        arrays[f"leftout.{_number(inner, name)}.indices"] = terms.hashes
        arrays[f"leftout.{_number(inner, name)}.values"] = terms.frequencies
    arrays |= evidence_arrays(evidence, inner.view_names_)
    if umap:
        arrays["umap_xy"] = umap_places(mixtures)
    return Payload(plain(meta), arrays, evidence)


def _evidence(model: Any, views: Views, counts: Counts) -> SearchEvidence:
    """Return what a search of these documents goes by: as in `SearchIndex`."""
    kept: SearchEvidence | None = getattr(model, "search_", None)
    if kept is not None:
        return kept
    try:
        check_training_views(model, views)
    except OtherDocuments:
        return untrained(model)
    return learn_evidence(model, counts)


def _known_mixtures(report: Any, counts: Mapping[str, sp.csr_array]) -> np.ndarray:
    """Return the mixtures of all views together, NaN for documents without any count."""
    empty = np.all([np.diff(matrix.indptr) == 0 for matrix in counts.values()], axis=0)
    return np.where(empty[:, None], np.nan, report.mixtures)


# -- arrays ----------------------------------------------------------------------------------------


def _arrays(
    report: Any,
    model: Any,
    views: Views,
    counts: Mapping[str, sp.csr_array],
    kept: Mapping[str, sp.csr_array],
) -> dict[str, np.ndarray]:
    arrays: dict[str, np.ndarray] = {}
    present = np.zeros((views.n_docs, len(model.view_names_)), np.uint8)
    for v, name in enumerate(model.view_names_):
        p_w = term_shares(model, name)
        arrays |= topics_of_terms(f"phi.{v}", model.components_[name], p_w)
        arrays[f"term_share.{v}"] = p_w.astype(np.float32)
        arrays |= words_of_topics(f"words.{v}", model, name)
        idf = idf_of(model.recipes_.get(name))
        if idf is not None:
            arrays[f"idf.{v}"] = idf.astype(np.float32)
        if hasattr(model, "view_shares_"):  # p(w|z) = p(v|z) p(w|z,v), as `VotedPLSA` folds in
            arrays[f"topic_weight.{v}"] = model.view_shares_[:, v].astype(np.float32)
        if name in views.names:
            present[:, v] = views.present[:, views.names.index(name)]
            arrays |= sparse_counts(f"counts.{v}", kept[name])
            arrays[f"length.{v}"] = rounded(counts[name].sum(axis=1))
    arrays["present"] = present
    arrays["topic_xy"] = place_topics(model.components_)
    return arrays | _disagreement(report, model)


def _disagreement(report: Any, model: Any) -> dict[str, np.ndarray]:
    found = report.disagreement
    arrays = {
        "disagreement.value": rounded(found.value),
        "disagreement.chance": rounded(found.chance),
        "disagreement.beyond": rounded(found.beyond),
        "fit": rounded(report.fit),
    }
    if len(found.by_pair) > 1:  # of two views the one pair is the document's value
        for (a, b), pair in found.by_pair.items():
            name = f"disagreement.{_number(model, a)}.{_number(model, b)}.beyond"
            arrays[name] = rounded(pair.beyond)
    return arrays


def _number(model: Any, view: str) -> int:
    return int(model.view_names_.index(view))


# -- plain values ----------------------------------------------------------------------------------


def _model_meta(report: Any, model: Any) -> dict[str, Any]:
    from coview.retrieval.files import model_fingerprint

    return {
        **report.model,
        "class": type(model).__name__,
        "sentences": dict(report.sentences),
        "fingerprint": model_fingerprint(model),
    }


def _view_meta(report: Any, model: Any, views: Views, name: str) -> dict[str, Any]:
    found = next((view for view in report.views if view.name == name), None)
    features, source = model.feature_names_[name], model.recipes_.get(name)
    width = model.components_[name].shape[1]
    names = getattr(source, "titles", None) or features  # visual words and codes have titles
    recipe, reason = page_recipe(source)
    if name in model.scaling_:
        recipe, reason = None, "its values are scaled as the model learned it"
    there = name in views.names
    coverage = views.present[:, views.names.index(name)].mean() if there else 0.0
    return {
        "name": name,
        "n_terms": width,
        "kind": getattr(found, "kind", None) or _kind(model, name),
        "terms": [str(t) for t in (range(width) if names is None else names)],
        "named": names is not None,
        "recipe": recipe,
        "no_recipe": reason,
        "lang": getattr(source, "language", None),
        "contribution": getattr(found, "contribution", None),
        "coherence": getattr(found, "coherence", None),
        "coverage": float(coverage),
        "weight": float(model.view_weights_[name]),
        "trust": trust_in_views(model)[name],
    }


def _left_out_meta(terms: TermsLeftOut | None) -> dict[str, Any] | None:
    if terms is None:
        return None
    options = [shown_option(name) for name in ("max_df", "min_df", "max_features")]
    return {**terms.as_data()[0], "options": options}


def _kind(model: Any, name: str) -> str:
    recipe = model.recipes_.get(name)
    if recipe is not None:
        pictures = recipe.kind.startswith("image")
        known = {"text": "text", "tokens": "items"}
        return "pictures" if pictures else known.get(recipe.kind, "codes")
    if name in model.scaling_:
        return "numbers"
    return "links" if name == "links" else "items"


def _topics_meta(report: Any, model: Any) -> list[dict[str, Any]]:
    hidden = set(getattr(model, "hidden_topics_", ()))
    topics, tokens = sorted(report.topics, key=lambda topic: topic.index), tokens_by_view(model)
    return [
        {
            **_topic_meta(topic),
            "hidden": topic.index in hidden,
            "tokens": {view: round(float(n_z[topic.index]), 3) for view, n_z in tokens.items()},
        }
        for topic in topics
    ]


def _levels_meta(tree: TopicTree | None) -> list[dict[str, Any]]:
    """Return the coarser levels, from fine to coarse: what each topic is called, and is part of."""
    if tree is None:
        return []
    return [
        {
            "names": [tree.label(level, z) for z in range(size)],
            "sizes": tree.share(level),
            "members": tree.member(level),
        }
        for level, size in enumerate(tree.levels)
        if level
    ]


def _topic_meta(topic: Any) -> dict[str, Any]:
    return {
        "name": topic.name,
        "size": topic.size,
        "n_docs": topic.n_docs,
        "view_documents": {view: list(found) for view, found in topic.view_documents.items()},
        "agreement": topic.agreement,
        "stability": topic.stability,
        "coherence": dict(topic.coherence),
        "view_share": dict(topic.view_share),
        "labels": {str(label): share for label, share in topic.labels.items()},
    }


def _search_meta(model: Any, counts: Mapping[str, Any], evidence: SearchEvidence) -> dict[str, Any]:
    """Return what the page needs to compute scores, besides `evidence_arrays`, and to fold in."""
    names = model.view_names_
    return {
        "answer": [v for v, name in enumerate(names) if name in counts],
        "weights": {
            f"{_number(model, a)}.{_number(model, b)}": pair.weights
            for (a, b), pair in evidence.pairs.items()
        },
        "prior": float(model.doc_topic_prior),
        "max_iter": int(model.fold_in_max_iter),
        "tol": float(model.fold_in_tol),
        "tiny": limits(model.dtype).tiny,
    }


def plain(value: Any) -> Any:
    """Return plain values for JSON: numbers of NumPy as Python's, what is not finite as None."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | bool | int) else str(value)
