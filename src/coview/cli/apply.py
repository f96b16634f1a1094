"""`coview predict` and `transform`: a model on new documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from coview.cli import options
from coview.cli.output import deliver, note
from coview.cli.source import Source, check_not_input

if TYPE_CHECKING:
    import numpy as np

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
    inner = getattr(fitted, "model_", fitted)
    ids: list[str] = []
    mixtures: list[np.ndarray] = []
    labels: list[np.ndarray] = []
    known: list[np.ndarray] = []
    for views in source.new_documents(inner):
        names = range(len(ids), len(ids) + len(views)) if views.ids is None else views.ids
        ids += map(str, names)
        mixtures.append(fitted.predict_proba(views))
        labels.append(_labels(fitted, mixtures[-1]))
        known.append(~inner._new_data(views).empty)
    if not ids:
        raise ValueError(f"There are no documents in {source.data}.")
    return fitted, ids, *map(np.concatenate, (mixtures, labels, known))


def _labels(fitted: Any, mixtures: np.ndarray) -> np.ndarray:
    """What `predict` would say of these mixtures, without folding in twice."""
    inner = getattr(fitted, "model_", fitted)
    topics = inner._assign(mixtures)
    return fitted.classes_[topics] if hasattr(fitted, "classes_") else topics


def _plain(label: Any) -> Any:
    return label.item() if hasattr(label, "item") else label


def _into_mudata(path, source: Source, output) -> None:
    from coview.data.mudata import to_mudata
    from coview.io import load

    if not source.is_h5mu:
        raise ValueError(
            "An .h5mu output needs an .h5mu input, into a copy of which it is written."
        )
    fitted = load(path)
    to_mudata(getattr(fitted, "model_", fitted), source.data, output)
    note(f"Results written to {output}: obsm['X_coview'], obs['coview'], varm['coview_topics'].")
