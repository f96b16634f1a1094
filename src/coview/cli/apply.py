"""Commands that apply a fitted model to documents: `coview predict`, `transform`, `evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coview.cli import options
from coview.cli.inputs import (
    NEW_DOCUMENT_OPTIONS,
    DataSource,
    data_options,
)
from coview.cli.output import (
    check_output,
    check_table_output,
    note,
    print_json,
    show_or_write,
    with_titles,
)
from coview.models import topic_model

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from coview.views.container import Views

MAX_SHOWN = 20  # rows of a table on the terminal

# -- predict and transform -------------------------------------------------------------------------


@data_options(*NEW_DOCUMENT_OPTIONS, "id", "title")
def predict(
    model: options.Model,
    source: DataSource,
    output: options.Output = None,
    raw: options.Raw = False,
    json: options.Json = False,
) -> None:
    """Predict the topic of new documents, or their class if the model is a classifier.

    The data need at least one view of the model. A table needs columns named like those the model
    was fitted to; name others with --text VIEW=COLUMN.

    Example: coview predict news.coview new.csv --id id -o topics.csv
    """
    from coview.reporting import topic_names

    check_table_output(output, model, *source.files)
    fitted, ids, mixtures, labels, known = _applied(model, source)
    what = "class" if _is_classifier(fitted) else "topic"
    rows: list[list[Any]] = [
        [name, _as_python(label), float(shares.max())] if told else [name, None, None]
        for name, label, shares, told in zip(ids, labels, mixtures, known, strict=True)
    ]
    _tell_unknown(known, f"their {what} is left empty")
    columns = ["document", what, "probability"]
    names = [None] if _is_classifier(fitted) else topic_names(fitted)
    if any(names):
        columns.append("name")
        rows = [[*row, None if row[1] is None else names[row[1]]] for row in rows]
    columns, rows = with_titles(columns, rows, source.titles(), range(len(rows)))
    show_or_write(columns, rows, as_json=json, output=output, raw=raw, max_shown=MAX_SHOWN)


@data_options(*NEW_DOCUMENT_OPTIONS, "id")
def transform(
    model: options.Model,
    source: DataSource,
    output: options.Output = None,
    raw: options.Raw = False,
    json: options.Json = False,
) -> None:
    """Compute the topic mixtures p(z|d) of new documents.

    If input and output are .h5mu files, the output is a copy of the input with the mixtures in
    obsm, the topics in each modality's varm and the clusters in obs.

    Example: coview transform news.coview new.csv --id id -o mixtures.parquet
    """
    if output is not None and output.suffix.lower() == ".h5mu":
        check_output(output, model, *source.files)
        _write_mudata(model, source, output)
        return
    from coview.topic_terms import topic_columns

    check_table_output(output, model, *source.files)
    fitted, ids, mixtures, _, known = _applied(model, source)
    _tell_unknown(known, "their mixture is uniform")
    names = fitted.classes_ if _is_classifier(fitted) else topic_columns(mixtures.shape[1])
    columns = ["document", *map(str, names)]
    rows = [[name, *map(float, shares)] for name, shares in zip(ids, mixtures, strict=True)]
    show_or_write(columns, rows, as_json=json, output=output, raw=raw, max_shown=MAX_SHOWN)


def _tell_unknown(known: np.ndarray, what: str) -> None:
    """Tell how many documents the model knows nothing of, and what stands for them."""
    if not known.all():
        note(
            f"{int((~known).sum()):,} of {len(known):,} documents have no feature that the model "
            f"knows: {what}."
        )


def _applied(
    path: Path, source: DataSource
) -> tuple[Any, list[str], np.ndarray, np.ndarray, np.ndarray]:
    """Return the model; ids, mixtures, labels of the documents, and which have known features."""
    import numpy as np

    from coview.io import load

    fitted = load(path)
    inner = topic_model(fitted)
    ids: list[str] = []
    mixtures: list[np.ndarray] = []
    labels: list[np.ndarray] = []
    known: list[np.ndarray] = []
    for views in source.new_documents(inner):
        names = range(len(ids), len(ids) + len(views)) if views.ids is None else views.ids
        ids += map(str, names)
        found = fitted.fold_in(views)
        mixtures.append(found.doc_topic)
        labels.append(fitted.classes_[found.labels] if _is_classifier(fitted) else found.labels)
        known.append(~found.empty)
    if not ids:
        raise ValueError(f"There are no documents in {source.data}.")
    return fitted, ids, *map(np.concatenate, (mixtures, labels, known))


def _is_classifier(fitted: Any) -> bool:
    from coview.classifier import TopicClassifier

    return isinstance(fitted, TopicClassifier)


def _as_python(label: Any) -> Any:
    """Convert a numpy scalar, which JSON cannot hold."""
    import numpy as np

    return label.item() if isinstance(label, np.generic) else label


def _write_mudata(path: Path, source: DataSource, output: Path) -> None:
    from coview.io import load
    from coview.reading.mudata import to_mudata

    if not source.is_h5mu:
        raise ValueError("An .h5mu output is a copy of the input, which must be .h5mu as well.")
    fitted = load(path)
    to_mudata(topic_model(fitted), source.data, output, layers=source.layers)
    note(f"Wrote {output}: obsm['X_coview'], obs['coview'], varm['coview_topics'].")


# -- evaluate --------------------------------------------------------------------------------------


@data_options(*NEW_DOCUMENT_OPTIONS, "label", "labels")
def evaluate(
    model: options.Model,
    source: DataSource,
    output: options.Output = None,
    top: Annotated[
        int, typer.Option(min=2, help="Number of words per topic for coherence and diversity.")
    ] = 10,
    search: Annotated[
        bool,
        typer.Option("--search", help="Also tell how often a document is found by its other view."),
    ] = False,
    raw: options.Raw = False,
    json: options.Json = False,
) -> None:
    """Evaluate a fitted model: clusters against classes, perplexity, coherence, agreement.

    The documents are folded in like new ones. With class labels (--label, --labels, or those of a
    views folder) clusters are compared with classes, and a classifier is scored. Perplexity is
    that of held-out words of each document. Agreement compares the mixtures of each pair of views,
    folded in separately. --search asks for up to 1,000 documents with one of their views, among
    their other views; those of the fit were then held back from what the model knows of words.

    Examples:

      coview evaluate news.coview test.csv --label topic --search

      coview evaluate digits.coview data/mfeat --json
    """
    from coview.compare.evaluation import evaluate as evaluate_model
    from coview.io import load

    source.check_label_options()
    check_table_output(output, model, *source.files)
    fitted = load(model)
    views, truth = all_documents(source, topic_model(fitted))
    found = evaluate_model(fitted, views, truth, top=top, search=search)
    if found.get("unlabeled"):
        note(
            f"{found['unlabeled']:,} of {found['documents']:,} documents are unlabeled: they are "
            "left out of the comparison with classes."
        )
    if json and output is None:
        print_json(found)
        return
    columns = ["measure", "of", "value"]
    show_or_write(columns, _measure_rows(found), as_json=json, output=output, raw=raw)


def all_documents(source: DataSource, model: Any) -> tuple[Views, np.ndarray | None]:
    """Return all documents, and their classes if a column of a table has them."""
    chunks = list(source.new_documents(model))
    if not chunks:
        raise ValueError(f"There are no documents in {source.data}.")
    in_column = source.label is not None and source.is_table and not source.view
    truth = _label_column(source) if in_column else None
    return (chunks[0] if len(chunks) == 1 else _stacked(chunks)), truth


def _stacked(chunks: list[Views]) -> Views:
    import numpy as np
    import scipy.sparse as sp

    from coview.views.container import Views

    first = chunks[0]
    return Views(
        {n: sp.vstack([c[n] for c in chunks], format="csr") for n in first.names},
        features={n: f for n, f in first.features.items() if f is not None} or None,
        present=np.concatenate([c.present for c in chunks]),
        ids=None if first.ids is None else np.concatenate([c.ids for c in chunks]),
    )


def _label_column(source: DataSource) -> np.ndarray:
    """Read the class labels of a table; an unlabeled document has None."""
    from coview.reading.columns import LabelColumn
    from coview.reading.tables import check_columns, open_table
    from coview.views.labels import named_labels

    assert source.data is not None
    assert source.label is not None
    table = open_table(source.data, encoding=source.encoding, delimiter=source.delimiter)
    check_columns([source.label], table)
    column = LabelColumn()
    for _, (cell,) in table.rows([source.label]):
        column.add(cell)
    return named_labels(*column.finish())


def _measure_rows(found: Mapping[str, Any]) -> list[list[Any]]:
    """Return one row (measure, of, value) for each number."""
    from coview.compare.metric_info import metric_info

    def titled(values: Mapping[str, float], of: str) -> list[list[Any]]:
        return [[metric_info(name).title, of, value] for name, value in values.items()]

    rows = titled(found.get("classes", {}), "classes")
    rows += titled(found.get("clusters", {}), "clusters")
    rows.append(["perplexity", "all views", found["perplexity"]])
    rows += [
        ["agreement of mixtures", pair, value] for pair, value in found.get("agreement", {}).items()
    ]
    for view, values in found["views"].items():
        rows += titled(values, view)
    for one in found.get("search", ()):
        of = f"{one['query']} to {one['answer']}, {one['documents']:,} documents"
        rows += [["found first", of, one["first"]], ["found among ten", of, one["ten"]]]
    return rows
