"""A model and its documents for other tools: pyLDAvis, datamapplot, topicwizard, AnnData.

The packages are imported where they are needed. Each of these tools knows one view; `view` says
which. `coview.to_mudata` keeps all views.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from coview.explorer.layout import place_documents, place_topics
from coview.extras import need
from coview.models import topic_model
from coview.reporting import top_terms, topic_names
from coview.reporting.terms import first_words
from coview.views.container import Views
from coview.wording import listing


class DataMap(NamedTuple):
    """What datamapplot takes.

    Attributes
    ----------
    coords : ndarray of shape (documents, 2)
    labels : ndarray of str of shape (documents,)
        The name of each document's topic.
    hover_text : list of str
        The name of each document.
    """

    coords: np.ndarray
    labels: np.ndarray
    hover_text: list[str]


def to_pyldavis(model: Any, views: Any, *, view: str | None = None, **options: Any) -> Any:
    """Return the topics of one view as data of pyLDAvis (`pyLDAvis.display`, `save_html`).

    Parameters
    ----------
    model : fitted model or TopicClassifier
    views : Views, or as in the model's `transform`
        The documents.
    view : str, optional
        The view to show; needed if the model has several.
    **options
        For `pyLDAvis.prepare`, such as ``sort_topics=False``.

    Returns
    -------
    pyLDAvis.PreparedData
    """
    pyldavis = _package("pyLDAvis", "pyLDAvis")
    inner, name, counts, mixtures = _one_view(model, views, view)
    sizes = counts.sum(axis=1, dtype=np.float64)
    frequencies = counts.sum(axis=0, dtype=np.float64)
    has = np.flatnonzero(sizes > 0)
    seen = np.flatnonzero((inner.components_[name].sum(axis=0) > 0) & (frequencies > 0))
    topics = inner.components_[name][:, seen].astype(np.float64)
    return pyldavis.prepare(
        topic_term_dists=_normalized(topics),
        doc_topic_dists=_normalized(mixtures[has].astype(np.float64)),
        doc_lengths=sizes[has],
        vocab=_terms(inner, name)[seen],
        term_frequency=frequencies[seen],
        **options,
    )


def to_datamapplot(model: Any, views: Any) -> DataMap:
    """Return places of documents, their topics and names, as datamapplot takes them.

    Places are those of the explorer's map. With ``m = to_datamapplot(model, views)``:
    ``datamapplot.create_interactive_plot(m.coords, m.labels, hover_text=m.hover_text)``.

    Parameters
    ----------
    model : fitted model or TopicClassifier
    views : Views, or as in the model's `transform`

    Examples
    --------
    >>> from coview import LinkPLSA
    >>> from coview.datasets import make_views
    >>> views = make_views(60, 3, {"text": 30, "image": 20}, random_state=0)
    >>> found = to_datamapplot(LinkPLSA(3, random_state=0).fit(views), views)
    >>> found.coords.shape, len(set(found.labels))
    ((60, 2), 3)
    """
    inner, documents = _documents(model, views)
    found = inner.fold_in(documents)
    coords = place_documents(found.doc_topic, place_topics(inner.components_))
    names = np.array(_called(model), dtype=object)[found.labels]
    names[found.empty] = "Unlabelled"  # as datamapplot calls what is not to be named
    return DataMap(coords, names.astype(str), _document_names(documents))


def to_topicwizard(
    model: Any, views: Any, *, view: str | None = None, corpus: Sequence[str] | None = None
) -> dict[str, Any]:
    """Return one view as the `TopicData` of topicwizard: ``topicwizard.visualize(topic_data=...)``.

    Parameters
    ----------
    model : fitted model or TopicClassifier
    views : Views, or as in the model's `transform`
    view : str, optional
        The view to show; needed if the model has several.
    corpus : sequence of str, optional
        The texts; by default the names of the documents.

    Returns
    -------
    dict
    """
    inner, name, counts, mixtures = _one_view(model, views, view)
    texts = _document_names(_documents(model, views)[1]) if corpus is None else list(corpus)
    if len(texts) != counts.shape[0]:
        raise ValueError(f"There are {len(texts):,} texts for {counts.shape[0]:,} documents.")
    readable = inner.recipes_.get(name) is not None

    def transform(new_texts: Sequence[str]) -> np.ndarray:
        return inner.fold_in({name: list(new_texts)}).doc_topic

    return {
        "corpus": texts,
        "vocab": _terms(inner, name),
        "document_term_matrix": sp.csr_matrix(counts),
        "document_topic_matrix": mixtures,
        "topic_term_matrix": inner.components_[name],
        "document_representation": mixtures,
        "transform": transform if readable else None,
        "topic_names": _called(model),
        "topic_positions": place_topics(inner.components_).T,
        "word_positions": None,
        "document_positions": None,
    }


def to_anndata(model: Any, views: Any, *, view: str | None = None, key: str = "coview") -> Any:
    """Return one view as AnnData, with mixtures in obsm, topics in varm and labels in obs.

    Parameters
    ----------
    model : fitted model or TopicClassifier
    views : Views, or as in the model's `transform`
    view : str, optional
        The view to write; needed if the model has several.
    key : str, default="coview"
        Under which name: ``obs[key]``, ``obsm["X_" + key]``, ``varm[key + "_topics"]``.

    Returns
    -------
    anndata.AnnData
    """
    anndata, pandas = need("anndata", extra="scverse"), need("pandas", extra="scverse")
    inner, name, counts, mixtures = _one_view(model, views, view)
    documents = _documents(model, views)[1]
    made = anndata.AnnData(
        sp.csr_matrix(counts),
        obs=pandas.DataFrame(index=_document_names(documents)),
        var=pandas.DataFrame(index=_terms(inner, name).astype(str)),
    )
    made.obsm[f"X_{key}"] = mixtures
    made.varm[f"{key}_topics"] = np.ascontiguousarray(inner.components_[name].T)
    labels = np.array(_called(model), dtype=object)[inner._assign(mixtures)]
    made.obs[key] = pandas.Categorical(labels, categories=_called(model))
    return made


# -- helpers ---------------------------------------------------------------------------------------


def _package(module: str, package: str) -> ModuleType:
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"This needs the package {package!r}, which is not installed: pip install {package}."
        ) from error


def _documents(model: Any, views: Any) -> tuple[Any, Views]:
    check_is_fitted(model)
    inner = topic_model(model)
    return inner, inner.as_views(views)


def _one_view(
    model: Any, views: Any, view: str | None
) -> tuple[Any, str, sp.csr_array, np.ndarray]:
    """Return the model, the name of the view, its counts, and mixtures of all views together."""
    inner, documents = _documents(model, views)
    if view is None and len(documents.names) == 1:
        view = documents.names[0]
    if view is None or view not in documents.names:
        raise ValueError(f"view must be one of {listing(documents.names)}; got {view!r}.")
    return inner, view, inner.as_counts(documents)[view], inner.fold_in(documents).doc_topic


def _terms(model: Any, view: str) -> np.ndarray:
    names = model.feature_names_[view]
    width = model.components_[view].shape[1]
    return np.arange(width).astype(str).astype(object) if names is None else np.asarray(names)


def _called(model: Any) -> list[str]:
    """Return what topics are called: their names, or their number and first words."""
    found, names = top_terms(model, 3).values(), topic_names(model)
    words = [", ".join(first_words((terms[z] for terms in found), 3)) for z in range(len(names))]
    return [name if name is not None else f"{z} {words[z]}".strip() for z, name in enumerate(names)]


def _document_names(views: Views) -> list[str]:
    return [str(name) for name in (range(views.n_docs) if views.ids is None else views.ids)]


def _normalized(rows: np.ndarray) -> np.ndarray:
    """Return rows that sum to one; a row of zeros becomes a uniform one."""
    sums = rows.sum(axis=1, keepdims=True)
    return np.divide(rows, sums, out=np.full_like(rows, 1 / rows.shape[1]), where=sums > 0)
