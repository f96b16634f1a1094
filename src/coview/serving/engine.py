"""A model ready to be asked: what each route computes, as plain values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coview.captions import Captions, snippet
from coview.em.scaling import count_clipped
from coview.models import topic_model
from coview.reporting import summarize_topics, topic_names
from coview.retrieval import Doc, SearchIndex
from coview.retrieval.query import known_counts, nothing_known
from coview.serving.documents import DocumentReader
from coview.serving.errors import RequestError
from coview.serving.work import Deadline
from coview.views.container import Views
from coview.wording import listing, quoted

CHUNK = 32  # documents that are worked on between two looks at the deadline
DIGITS = 7  # of numbers in answers
SNIPPET_LENGTH = 300  # characters of the text of an answer

Document = Mapping[str, Any]


@dataclass
class Answers:
    """What is said of each document of a request.

    Attributes
    ----------
    rows : list of dict
    clipped : dict of int
        By view, how many numbers were beyond the range of training and were cut off.
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    clipped: dict[str, int] = field(default_factory=dict)

    def add_clipped(self, clipped: Mapping[str, int]) -> None:
        """Add what was cut off in some of the documents."""
        for view, count in clipped.items():
            if count:
                self.clipped[view] = self.clipped.get(view, 0) + int(count)


class ServedModel:
    """A fitted model, and the documents that can be searched with it.

    Parameters
    ----------
    model : fitted model or TopicClassifier
        It is used by one thread at a time each, so its `n_jobs` becomes 1.
    index : SearchIndex, optional
        What is searched, in its view alone. By default the training documents, in each view.
    documents : dict of Views, optional
        What is searched: "views", new documents, or "training_views", those of the fit, from which
        the model learns what a search needs where it does not keep that itself.
    captions : Captions, optional
        Titles and texts of the documents that are searched, which answers show.

    Examples
    --------
    >>> from coview import PLSA, Views
    >>> views = Views.from_texts({"en": ["ball goal", "moon star", "goal team"]}, max_df=1.0)
    >>> served = ServedModel(PLSA(2, random_state=0).fit(views))
    >>> found = served.transform([{"en": "goal"}], Deadline(60))
    >>> len(found.rows[0]["mixture"]), found.rows[0]["known"]
    (2, True)
    """

    def __init__(
        self,
        model: Any,
        index: SearchIndex | None = None,
        documents: Mapping[str, Views] | None = None,
        captions: Captions | None = None,
    ) -> None:
        self.fitted = model
        self.model = topic_model(model)
        self.model.n_jobs = 1
        self._documents: dict[str, Any] = dict(documents or {})
        self._captions = captions or Captions()
        self._reader = DocumentReader(self.model)
        self._names = topic_names(model)
        self._classes = getattr(model, "classes_", None)
        self._indexes: dict[str | None, SearchIndex] = {}
        self._given = index
        if index is not None:
            index.n_jobs = 1
            self._indexes[index.in_view] = index

    @property
    def real_views(self) -> list[str]:
        """The views that may have numbers below 0."""
        return self._reader.real_views

    @property
    def n_values(self) -> int:
        """How many values a document has at most: of views, and of columns they are made from."""
        return len(self.model.view_names_) + len(self.model.recipes_)

    def prepare(self) -> None:
        """Make the indexes and compile what requests run, so that the first is not the slowest."""
        if self._given is None:
            self._make_indexes()
        deadline = Deadline(3600)
        document = self.some_document()
        self.predict([document], deadline)
        for in_view in self._indexes:
            self.search(document, None, in_view, 1, False, deadline)

    def _make_indexes(self) -> None:
        """Make an index of all views together, and of each view that some document has."""
        training = self._documents.pop("training_views", None)
        if training is not None and not hasattr(self.model, "search_"):
            self.model.keep_search(training)
        self._indexes[None] = SearchIndex(self.model, n_jobs=1, **self._documents)
        for view in self.model.view_names_:
            try:
                made = SearchIndex(self.model, in_view=view, n_jobs=1, **self._documents)
            except ValueError:  # no document has it
                continue
            self._indexes[view] = made

    # -- routes --------------------------------------------------------------------------------

    def transform(self, documents: Sequence[Document], deadline: Deadline) -> Answers:
        """Return the mixture and the main topic of each document."""
        found = Answers()
        for mixture, _, known in self._folded_in(documents, deadline, found):
            topic = int(mixture.argmax())
            found.rows.append(
                {
                    "mixture": np.round(mixture, DIGITS).tolist(),
                    "topic": topic if known else None,
                    "name": self._names[topic] if known else None,
                    "known": known,
                }
            )
        return found

    def predict(self, documents: Sequence[Document], deadline: Deadline) -> Answers:
        """Return the topic, or the class of a classifier, of each document."""
        found = Answers()
        for mixture, label, known in self._folded_in(documents, deadline, found):
            found.rows.append(
                {
                    "label": self._label(label) if known else None,
                    "name": self._names[label] if known else None,
                    "probability": float(round(mixture[label], DIGITS)) if known else None,
                    "known": known,
                }
            )
        return found

    def _label(self, number: int) -> Any:
        if self._classes is None:
            return number
        label = self._classes[number]
        return label.item() if isinstance(label, np.generic) else label

    def _folded_in(
        self, documents: Sequence[Document], deadline: Deadline, answers: Answers
    ) -> Iterator[tuple[np.ndarray, int, bool]]:
        """Yield mixture, label and whether anything is known of each document."""
        for views in self._read(documents, deadline):
            with _refusing():
                found = self.fitted.fold_in(views)
            answers.add_clipped(found.clipped)
            mixtures = found.doc_topic.astype(np.float64)
            known = ~found.empty
            yield from zip(mixtures, map(int, found.labels), map(bool, known), strict=True)

    def _read(self, documents: Sequence[Document], deadline: Deadline) -> Iterator[Views]:
        """Yield documents as views, a few at a time; each is folded in on its own."""
        for begin in range(0, len(documents), CHUNK):
            deadline.check()
            yield self._reader.read(documents[begin : begin + CHUNK], begin)

    def search(
        self,
        query: Document | None,
        like: str | int | None,
        in_view: str | None,
        top: int,
        explain: bool,
        deadline: Deadline,
    ) -> list[dict[str, Any]]:
        """Return the documents most similar to a query, or to the known document `like`."""
        index = self._index(in_view)
        if query is None:
            assert like is not None
            asked: Any = Doc(like)
        else:
            asked = self._reader.read([query])
            if not known_counts(self.model, asked).any():
                message = nothing_known(self.model, query, asked.names)
                raise RequestError(422, "nothing_known", message)
        deadline.check()
        try:
            hits = index.query(asked, top, explain=explain)
        except ValueError as error:
            status, code = (404, "no_document") if query is None else (422, "bad_document")
            raise RequestError(status, code, str(error)) from error
        rows = zip(hits.to_rows(), hits, strict=True)
        return [self._described(row, hit.title, index.in_view) for row, hit in rows]

    def _described(
        self, row: dict[str, Any], title: str | None, view: str | None
    ) -> dict[str, Any]:
        """Add title and text of an answer, and its main topic if it is a training document."""
        document = str(row["position"] if row["id"] is None else row["id"])
        title = self._captions.titles.get(document) or title or row["id"] or f"document {document}"
        text = self._captions.text(document, view)
        row["title"] = title
        row["text"] = None if text is None else snippet(text, SNIPPET_LENGTH)
        topic = name = None
        if self._searches_training:
            topic = int(self.model.labels_[row["position"]])
            name = self._names[topic]
        plain = {**row, "score": round(row["score"], DIGITS), "topic": topic, "name": name}
        return finite(plain)

    @property
    def _searches_training(self) -> bool:
        return self._given is None and "views" not in self._documents

    def _index(self, in_view: str | None) -> SearchIndex:
        if in_view is not None:
            self._check_view(in_view)
        if self._given is not None and in_view is None:
            in_view = self._given.in_view
        if in_view not in self._indexes:
            raise RequestError(
                422, "bad_view", f"in_view: what is searched has {self._searched()} alone."
            )
        return self._indexes[in_view]

    def _searched(self) -> str:
        views = [name for name in self._indexes if name is not None]
        return listing(views, 20) if views else "all views together"

    def annotate(
        self, documents: Sequence[Document], in_view: str, top: int, deadline: Deadline
    ) -> Answers:
        """Return the terms of one view that the other views of each document speak for."""
        self._check_view(in_view)
        if not self.model.components_[in_view].any():
            raise RequestError(
                422, "bad_view", f"in_view: the model knows no term of view {quoted(in_view)}."
            )
        found = Answers()
        for views in self._read(documents, deadline):
            known = known_counts(self.model, views) > 0
            with _refusing():
                terms = iter(self._predicted(views[known], in_view, top) if known.any() else ())
            rows = [{"terms": next(terms) if told else [], "known": bool(told)} for told in known]
            found.rows += rows
            found.add_clipped(count_clipped(views, self.model.scaling_))
        return found

    def _predicted(self, views: Views, in_view: str, top: int) -> list[list[dict[str, Any]]]:
        """Return the terms of each document; all of them have some that the model knows."""
        return [
            [{"term": term, "probability": round(share, DIGITS)} for term, share in row]
            for row in self.fitted.predict_terms(views, in_view=in_view, top=top)
        ]

    def _check_view(self, name: str) -> None:
        if name not in self.model.view_names_:
            raise RequestError(
                422,
                "bad_view",
                f"in_view: there is no view {quoted(name)}. Known are "
                f"{listing(self.model.view_names_, 20)}.",
            )

    def topics(self, n_terms: int) -> list[dict[str, Any]]:
        """Return the topics, the largest first."""
        return summarize_topics(self.fitted, n_terms)

    def some_document(self) -> Document:
        """Return a document of one term that the model knows."""
        view = next(name for name, topics in self.model.components_.items() if topics.any())
        topics, names = self.model.components_[view], self.model.feature_names_[view]
        column = int(topics.max(axis=0).argmax())
        return {view: {str(column if names is None else names[column]): 1}}

    def some_view(self, wanted: str) -> str | None:
        """Return a view that can be searched, the wanted one if it can be."""
        return wanted if wanted in self._indexes else next(iter(self._indexes))

    def facts(self) -> dict[str, Any]:
        """Return what the model is, for the list of topics."""
        return {
            "model": type(self.fitted).__name__,
            "n_topics": len(self._names),
            "n_documents": len(self.model.doc_topic_),
            "views": list(self.model.view_names_),
        }


@contextmanager
def _refusing() -> Iterator[None]:
    """Tell clients what is wrong with their documents where only the model finds it."""
    try:
        yield
    except ValueError as error:
        raise RequestError(422, "bad_document", str(error)) from error


def finite(value: Any) -> Any:
    """Return a plain value with None for numbers that JSON does not have.

    >>> finite({"share": float("nan"), "terms": [1.0]})
    {'share': None, 'terms': [1.0]}
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    return [finite(item) for item in value] if isinstance(value, list | tuple) else value
