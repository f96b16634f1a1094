"""The shapes of requests and answers, for checks and for the OpenAPI page."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    FailFast,
    Field,
    WithJsonSchema,
    model_validator,
)

from coview.serving.documents import is_picture
from coview.wording import quoted

MAX_COUNT = 1e9  # of a term, and the largest number of a row
MIN_COUNT = 1e-30  # single precision has no shares of less
MAX_TOP = 1000

_EXPECTED = (
    "expected a text, an object of terms with counts, a list of terms, a list of numbers "
    f"(0, or from {MIN_COUNT:g} to {MAX_COUNT:g} in size), or a picture as {{'base64': text}}"
)


def _is_number(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and (value == 0 or MIN_COUNT <= abs(value) <= MAX_COUNT)


def _is_value(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_is_number, value.values())) or (is_picture(value) and len(value) == 1)
    if isinstance(value, list):
        return all(isinstance(term, str) for term in value) or all(map(_is_number, value))
    return value is None or isinstance(value, str)


def _check_document(value: Any) -> Any:
    """Refuse what is no document, at the first of its values that is wrong."""
    if not isinstance(value, dict) or not value:
        raise ValueError("expected an object with a value of at least 1 view")
    for view, one in value.items():
        if not _is_value(one):
            raise ValueError(f"view {quoted(view)}: {_EXPECTED}")
    return value


def _check_ids(value: Any) -> Any:
    if value is None or (isinstance(value, list) and all(isinstance(one, str) for one in value)):
        return value
    raise ValueError("expected a list of texts")


def _no_lookalike(value: Any) -> Any:
    """Refuse texts and truth values where a number is wanted; pydantic would convert them."""
    if isinstance(value, bool | str):
        raise ValueError("expected a whole number")
    return value


# what each view takes is said by `coview.serving.description`
Document = Annotated[Any, BeforeValidator(_check_document), WithJsonSchema({"type": "object"})]
Documents = Annotated[list[Document], FailFast(), Field(min_length=1)]
_IDS_SCHEMA = {
    "anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}],
    "description": "Names of the documents, given back.",
}
Ids = Annotated[Any, BeforeValidator(_check_ids), WithJsonSchema(_IDS_SCHEMA)]
Top = Annotated[int, BeforeValidator(_no_lookalike), Field(ge=1, le=MAX_TOP)]
_LIKE_SCHEMA = {"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 0}]}


def _check_like(value: Any) -> Any:
    if isinstance(value, str) or (
        isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 62
    ):
        return value
    raise ValueError("expected the id of a document, or its number from 0")


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class DocumentsRequest(_Request):
    """Documents, each with some of the views of the model."""

    documents: Documents
    ids: Ids = None

    @model_validator(mode="after")
    def _one_id_each(self) -> Self:
        if self.ids is not None and len(self.ids) != len(self.documents):
            raise ValueError(f"{len(self.documents)} documents, but {len(self.ids)} ids")
        return self


class AnnotateRequest(DocumentsRequest):
    """Documents, and the view whose terms are wanted."""

    in_view: str
    top: Top = 10


class SearchRequest(_Request):
    """A query, or a known document; what to search."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"oneOf": [{"required": ["query"]}, {"required": ["like"]}]},
    )
    query: Document = None
    like: Annotated[Any, BeforeValidator(_check_like), WithJsonSchema(_LIKE_SCHEMA)] = None
    in_view: str | None = None
    top: Top = 10
    explain: Annotated[bool, Field(strict=True)] = False

    @model_validator(mode="after")
    def _one_question(self) -> Self:
        if (self.query is None) == (self.like is None):
            raise ValueError("give either query or like")
        return self


class TopicsRequest(BaseModel):
    """How much of the topics is wanted."""

    terms: Annotated[int, Field(ge=1, le=100)] = 10


# -- answers ---------------------------------------------------------------------------------------


class Mixture(BaseModel):
    """The topics of one document; without known terms its mixture is uniform."""

    id: str | None
    mixture: list[float]
    topic: int | None
    name: str | None
    known: bool


Clipped = Annotated[
    dict[str, int],
    Field(description="By view, how many numbers were beyond the range of training."),
]


class TransformAnswer(BaseModel):
    """A mixture for each document."""

    clipped: Clipped
    documents: list[Mixture]


class Prediction(BaseModel):
    """The topic or class of one document; null without known terms."""

    id: str | None
    label: int | float | bool | str | None
    name: str | None
    probability: float | None
    known: bool


class PredictAnswer(BaseModel):
    """A prediction for each document."""

    clipped: Clipped
    documents: list[Prediction]


class FoundReason(BaseModel):
    """What one kind of evidence, or one topic, adds to a score."""

    kind: Annotated[
        str | None,
        Field(description="names, translation, topics or map; null where topics alone rank."),
    ]
    contribution: float
    share: Annotated[float, Field(description="Of all that speaks for the answer.")]
    calls: Annotated[
        list[list[Any]],
        Field(
            description="For names and translation: a term of the query, the terms of the answer "
            "that stand for it, and what these add."
        ),
    ]
    topic: int | None
    label: int | float | bool | str | None
    terms: Annotated[dict[str, list[str]], Field(description="Of the topic, by view.")]
    query_words: dict[str, list[list[Any]]]
    answer_words: dict[str, list[list[Any]]]


class FoundDocument(BaseModel):
    """One answer to a query."""

    rank: int
    position: int
    id: str | None
    title: Annotated[str, Field(description="Its title, else its id, else its number from 0.")]
    text: Annotated[
        str | None,
        Field(description="The beginning of its text in the view searched, where it is known."),
    ]
    score: Annotated[
        float,
        Field(
            description="The probability that this is the document asked for; where topics alone "
            "rank, how similar its topics are, up to 1."
        ),
    ]
    topic: int | None
    name: str | None
    explanation: Annotated[
        list[FoundReason] | None, Field(description="Empty where nothing speaks for the answer.")
    ] = None


class SearchAnswer(BaseModel):
    """The answers to a query, best first."""

    hits: list[FoundDocument]


class ScoredTerm(BaseModel):
    """A term of the other view, and how likely it is."""

    term: str
    probability: float


class Annotation(BaseModel):
    """The terms that one document would have in the other view."""

    id: str | None
    terms: list[ScoredTerm]
    known: bool


class AnnotateAnswer(BaseModel):
    """An annotation of each document."""

    clipped: Clipped
    documents: list[Annotation]


class TopicSummary(BaseModel):
    """One topic."""

    topic: int
    name: str | None
    documents: int
    share: float
    stability: float | None
    terms: dict[str, list[str]]
    view_documents: dict[str, int]
    part_of: dict[int, int] = Field(
        default_factory=dict, description="Topics of coarser levels, by their number of topics."
    )


class TopicsAnswer(BaseModel):
    """What the model is, and its topics, the largest first."""

    model: str
    n_topics: int
    n_documents: int
    views: list[str]
    topics: list[TopicSummary]


class ServedModelFacts(BaseModel):
    """One of the models that are served."""

    name: str
    model: str
    n_topics: int
    n_documents: int
    views: list[str]


class ModelsAnswer(BaseModel):
    """The models that are served; the first is asked where no name is given."""

    models: list[ServedModelFacts]


class StatusAnswer(BaseModel):
    """Whether the service lives, or is ready."""

    status: str


class ErrorContent(BaseModel):
    """One word for programs, a sentence for people, the id of the request in the log."""

    code: str
    message: str
    request: str


class ErrorAnswer(BaseModel):
    """The answer to every request that cannot be answered."""

    error: ErrorContent
