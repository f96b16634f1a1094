"""`coview predict` and `transform`: a model on new documents.

`coview evaluate`: how good one fitted model is on some documents.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coview.cli import options
from coview.cli.output import UsageError, deliver, note, print_json
from coview.cli.source import Source, check_not_input, named
from coview.models import topic_model

if TYPE_CHECKING:
    import numpy as np

    from coview.views.container import Views


SHOWN = 20


def predict(
    context: typer.Context,
    model: options.Model,
    data: options.Data = None,
    output: options.Output = None,
    view: options.Matrices = None,
    text: options.Text = None,
    tokens: options.Tokens = None,
    image: options.Image = None,
    id: options.Id = None,
    encoding: options.Encoding = "utf-8",
    delimiter: options.Delimiter = None,
    raw: options.Raw = False,
    json: options.Json = False,
) -> None:
    """Give new documents their topic, or their class if the model is a classifier.

    Any of the model's views will do: a table needs the columns the model was fitted to, or some of
    them, or --text VIEW=COLUMN.

    Example: coview predict news.coview new.csv --id id -o topics.csv
    """
    source = Source.of(context.params)
    check_not_input(output, data, model)
    fitted, ids, mixtures, labels, known = _applied(model, source)
    what = "class" if hasattr(fitted, "classes_") else "topic"
    rows = [
        [name, _plain(label), float(shares.max())] if told else [name, None, None]
        for name, label, shares, told in zip(ids, labels, mixtures, known, strict=True)
    ]
    if not known.all():
        note(
            f"{int((~known).sum()):,} of {len(ids):,} documents have nothing that the model knows: "
            f"their {what} is left empty."
        )
    deliver(
        "",
        ["document", what, "probability"],
        rows,
        as_json=json,
        output=output,
        raw=raw,
        most=SHOWN,
    )


def transform(
    context: typer.Context,
    model: options.Model,
    data: options.Data = None,
    output: options.Output = None,
    view: options.Matrices = None,
    text: options.Text = None,
    tokens: options.Tokens = None,
    image: options.Image = None,
    id: options.Id = None,
    encoding: options.Encoding = "utf-8",
    delimiter: options.Delimiter = None,
    raw: options.Raw = False,
    json: options.Json = False,
) -> None:
    """Give new documents their mixtures of topics.

    With an .h5mu file as input and output the results are written into a copy of it: mixtures to
    obsm, topics to each modality's varm, clusters to obs.

    Example: coview transform news.coview new.csv --id id -o mixtures.parquet
    """
    source = Source.of(context.params)
    check_not_input(output, data, model)
    if output is not None and output.suffix.lower() == ".h5mu":
        _into_mudata(model, source, output)
        return
    fitted, ids, mixtures, *_ = _applied(model, source)
    columns = ["document", *(str(c) for c in getattr(fitted, "classes_", range(mixtures.shape[1])))]
    rows = [[name, *map(float, shares)] for name, shares in zip(ids, mixtures, strict=True)]
    deliver("", columns, rows, as_json=json, output=output, raw=raw, most=SHOWN)


def _applied(path, source: Source) -> tuple[Any, list[str], np.ndarray, np.ndarray, np.ndarray]:
    """The model; ids, mixtures, labels of the new documents, and which say anything to it."""
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
        found = inner.fold_in(views)
        mixtures.append(found.doc_topic)
        labels.append(fitted.classes_[found.labels] if fitted is not inner else found.labels)
        known.append(~found.empty)
    if not ids:
        raise ValueError(f"There are no documents in {source.data}.")
    return fitted, ids, *map(np.concatenate, (mixtures, labels, known))


def _plain(label: Any) -> Any:
    return label.item() if hasattr(label, "item") else label


def _into_mudata(path, source: Source, output) -> None:
    from coview.io import load
    from coview.reading.mudata import to_mudata

    if not source.is_h5mu:
        raise ValueError(
            "An .h5mu output needs an .h5mu input, into a copy of which it is written."
        )
    fitted = load(path)
    to_mudata(topic_model(fitted), source.data, output)
    note(f"Results written to {output}: obsm['X_coview'], obs['coview'], varm['coview_topics'].")


# -- evaluate --------------------------------------------------------------------------------------


def evaluate(
    context: typer.Context,
    model: options.Model,
    data: options.Data = None,
    output: options.Output = None,
    view: options.Matrices = None,
    text: options.Text = None,
    tokens: options.Tokens = None,
    image: options.Image = None,
    label: options.Label = None,
    labels: options.Labels = None,
    encoding: options.Encoding = "utf-8",
    delimiter: options.Delimiter = None,
    top: Annotated[int, typer.Option(min=2, help="Words of a topic that are looked at.")] = 10,
    raw: options.Raw = False,
    json: options.Json = False,
) -> None:
    """Measure a fitted model: clusters against classes, perplexity, coherence, agreement.

    The documents are folded in like new ones. With --label (or a views folder that has labels)
    clusters are compared with classes, and a classifier is judged by them. Perplexity is that of
    words set aside in each document. Agreement is between views that are folded in each on its own.

    Examples:

      coview evaluate news.coview test.csv --label topic

      coview evaluate digits.coview data/mfeat --json
    """
    from coview.compare.evaluation import evaluate as measure
    from coview.io import load

    source = Source.of(context.params)
    check_label_options(source)
    check_not_input(output, model, *inputs(source))
    fitted = load(model)
    views, truth = _documents(source, topic_model(fitted))
    found = measure(fitted, views, truth, top=top)
    if json and output is None:
        print_json(found)
        return
    rows = _rows(found)
    deliver("", ["measure", "of", "value"], rows, as_json=json, output=output, raw=raw)


def check_label_options(source: Source) -> None:
    """Refuse classes that would not be read: others, or none, would be taken in their place."""
    if source.labels is not None and not source.view:
        raise UsageError(
            "--labels is a file of classes for matrices (--view). A table has a column of them "
            "(--label), a views folder its own file."
        )
    is_folder = source.data is not None and source.data.is_dir()
    if source.label is not None and (source.view or is_folder):
        raise UsageError(
            "--label is a column of a table or of an .h5mu file. Matrices have a file of classes "
            "(--labels), a views folder its own."
        )


def inputs(source: Source) -> list[Path | None]:
    """The files that are read."""
    matrices = [Path(file) for file in named(source.view, "--view").values()]
    return [source.data, source.labels, source.ids, source.links, *matrices]


def _documents(source: Source, model: Any) -> tuple[Views, Any]:
    """All documents, and their classes where a column of a table has them."""
    pieces = list(source.new_documents(model))
    if not pieces:
        raise ValueError(f"There are no documents in {source.data}.")
    in_column = source.label is not None and source.is_table and not source.view
    truth = _column(source) if in_column else None
    return (pieces[0] if len(pieces) == 1 else _stacked(pieces)), truth


def _stacked(pieces: list[Views]) -> Views:
    import numpy as np
    import scipy.sparse as sp

    from coview.views.container import Views

    first = pieces[0]
    return Views(
        {n: sp.vstack([p[n] for p in pieces], format="csr") for n in first.names},
        features={n: f for n, f in first.features.items() if f is not None} or None,
        present=np.concatenate([p.present for p in pieces]),
    )


def _column(source: Source) -> Any:
    """The classes of a table; an empty cell is a document without one."""
    import numpy as np

    from coview.reading.tables import check_columns, open_table

    assert source.data is not None
    assert source.label is not None
    table = open_table(source.data, encoding=source.encoding, delimiter=source.delimiter)
    check_columns([source.label], table)
    cells = [row[0] for _, row in table.rows([source.label])]
    return np.array([None if c in (None, "") else str(c) for c in cells], dtype=object)


def _rows(found: dict[str, Any]) -> list[list[Any]]:
    """One line for each number."""
    from coview.compare.measures import measure

    def named(values, of):
        return [[measure(name).title, of, value] for name, value in values.items()]

    rows = named(found.get("classes", {}), "classes")
    rows += named(found.get("clusters", {}), "clusters")
    rows.append(["perplexity", "all views", found["perplexity"]])
    rows += [["agreement", pair, value] for pair, value in found.get("agreement", {}).items()]
    for view, values in found["views"].items():
        rows += named(values, view)
    return rows
