"""The data a command reads: from its options to `Views`, for fitting or as new documents."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, fields
from functools import wraps
from inspect import Parameter, Signature, signature
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from coview.cli import options
from coview.cli.options import UsageError, parse_pairs
from coview.cli.pictures import (
    folder_ids,
    raw_folder,
    read_images_for,
    resolve_image_paths,
    source_kinds,
)

if TYPE_CHECKING:
    import numpy as np

    from coview.captions import Captions
    from coview.views.container import Views

CHUNK_ROWS = 20_000  # rows of a table that are folded in at once
PROGRESS_BYTES = 20_000_000  # size from which reading a table shows a progress bar


@dataclass(frozen=True)
class DataSource:
    """Where the documents come from: the data options, of which each command has some or all."""

    data: options.Data = None
    view: options.Matrices = None
    text: options.Text = None
    tokens: options.Tokens = None
    image: options.Image = None
    embedding: options.Embedding = None
    id: options.Id = None
    title: options.Title = None
    label: options.Label = None
    ids: options.Ids = None
    labels: options.Labels = None
    layer: options.Layers = None
    links: options.Links = None
    use: options.Use = None
    encoding: options.Encoding = "utf-8"
    delimiter: options.Delimiter = None
    language: options.Languages = None
    stop_words: options.StopWords = True
    min_df: options.MinDf = None
    max_df: options.MaxDf = None
    max_features: options.MaxFeatures = None
    quiet: bool = False

    def __post_init__(self) -> None:
        if self.layer and not self.is_h5mu:
            raise UsageError("--layer is for .h5mu files, whose modalities have layers.")

    @property
    def is_h5mu(self) -> bool:
        """Whether the data are an .h5mu file."""
        return self.data is not None and self.data.suffix.lower() == ".h5mu"

    @property
    def is_table(self) -> bool:
        """Whether the data are a table, as far as the path tells."""
        return self.data is not None and not self.data.is_dir() and not self.is_h5mu

    @property
    def is_sharded(self) -> bool:
        """Whether the data are a sharded folder."""
        if self.view or self.data is None or not self.data.is_dir():
            return False
        from coview.shards.format import is_sharded_folder

        return is_sharded_folder(self.data)

    @property
    def files(self) -> list[Path | None]:
        """All files and folders that are read."""
        matrices = [Path(file) for file in parse_pairs(self.view, "--view").values()]
        vectors = self.vector_files.values()
        return [self.data, self.labels, self.ids, self.links, *matrices, *vectors]

    @property
    def vector_files(self) -> dict[str, Path]:
        """Files of vectors, by view."""
        given = parse_pairs(self.embedding, "--embedding")
        return {view: Path(file) for view, file in given.items() if file.endswith(".npy")}

    @property
    def vector_columns(self) -> dict[str, str]:
        """Columns of vectors, by view."""
        given = parse_pairs(self.embedding, "--embedding")
        return {view: column for view, column in given.items() if view not in self.vector_files}

    @property
    def layers(self) -> dict[str, str]:
        """The layer of each modality that was asked for."""
        return parse_pairs(self.layer, "--layer")

    def check_label_options(self) -> None:
        """Refuse --label and --labels where they would not be read."""
        if self.labels is not None and not self.view:
            raise UsageError(
                "--labels is a file of class labels for matrices (--view). A table has a column "
                "of them (--label), a views folder its own file."
            )
        is_folder = self.data is not None and self.data.is_dir()
        if self.label is not None and (self.view or is_folder):
            raise UsageError(
                "--label is a column of a table or of an .h5mu file. Matrices take a file of "
                "class labels (--labels), a views folder has its own."
            )

    # -- data to fit a model to --

    def views(self) -> Views:
        """Read all of the data."""
        views = self._with_vectors(self.with_links(self._read()))
        return views.select(*self.use) if self.use else views

    def _read(self) -> Views:
        from coview.views.container import Views

        if self.view:
            return self._from_matrices()
        path = self._path()
        if path.is_dir():
            return self._from_folder(path)
        if self.is_h5mu:
            return Views.from_mudata(path, layers=self.layers, label=self.label)
        return self._from_table(path)

    def path(self) -> Path:
        """Return the path of the data, if there is something."""
        return self._path()

    def _path(self) -> Path:
        if self.data is None:
            raise UsageError(
                "Give the data: a table, a folder or an .h5mu file; or --view NAME=FILE."
            )
        if not self.data.exists():
            raise FileNotFoundError(f"There is no {self.data}.")
        return self.data

    def _from_matrices(self) -> Views:
        from coview.views.container import Views

        if self.data is not None:
            raise UsageError(f"Give either {self.data} or --view NAME=FILE, not both.")
        return Views.from_files(parse_pairs(self.view, "--view"), ids=self.ids, labels=self.labels)

    def _from_folder(self, path: Path) -> Views:
        from coview.views.container import Views
        from coview.views.folder import is_views_folder

        if is_views_folder(path):
            return Views.load(path)
        if self.is_sharded:
            from coview.shards.sharded import open_shards

            return open_shards(path).to_views()
        with _reading_bar("Reading images", show=not self.quiet) as progress:
            return Views.from_images(path, progress=progress, caption_options=self._text_options())

    def _from_table(self, path: Path) -> Views:
        from coview.views.container import Views

        given = self.table_options(path, ["text", "tokens", "image"])
        with self.table_bar(path) as progress:
            return Views.from_table(path, embedding=self.vector_columns, on_bytes=progress, **given)

    def table_options(self, path: Path, kinds: list[str]) -> dict[str, Any]:
        """Return the arguments of a table's readers, with columns of these kinds that it has."""
        if not (self.text or self.tokens or self.image or self.vector_columns):
            self._raise_no_columns(path)
        columns = {kind: parse_pairs(getattr(self, kind), f"--{kind}") for kind in kinds}
        self._check_columns(path, [name for found in columns.values() for name in found.values()])
        return {
            **columns,
            "id": self.id,
            "label": self.label,
            "encoding": self.encoding,
            "delimiter": self.delimiter,
            **self._text_options(),
        }

    def table_bar(self, path: Path) -> AbstractContextManager[Callable[[int, int], None]]:
        """Return the progress bar of reading a table, shown if it is large."""
        show = not self.quiet and path.stat().st_size > PROGRESS_BYTES
        return _reading_bar(f"Reading {path.name}", show=show)

    def _check_columns(self, path: Path, columns: list[str]) -> None:
        """Refuse unknown columns before scikit-learn, which reads texts, is imported."""
        from coview.reading.tables import check_columns, open_table

        also = [column for column in (self.id, self.label) if column is not None]
        check_columns(
            [*columns, *also],
            open_table(path, encoding=self.encoding, delimiter=self.delimiter),
        )

    def _raise_no_columns(self, path: Path) -> None:
        """Raise an error that lists the columns and suggests the likely ones."""
        from coview.reading.tables import open_table, text_columns
        from coview.wording import listing

        table = open_table(path, encoding=self.encoding, delimiter=self.delimiter)
        likely = " ".join(f"--text {name}" for name in text_columns(table))
        raise UsageError(
            f"Say which columns of {path.name} are views: --text, --tokens or --image. It has "
            f"{listing(table.columns(), 20)}." + (f" Perhaps: {likely}" if likely else "")
        )

    def _text_options(self) -> dict[str, Any]:
        return {
            "languages": self._languages() or "auto",
            "stop_words": "auto" if self.stop_words else None,
            "min_df": self.min_df,
            "max_df": self.max_df,
            "max_features": self.max_features,
        }

    def _languages(self) -> dict[str, str | None]:
        given = parse_pairs(self.language, "--language")
        return {view: None if name == "none" else name for view, name in given.items()}

    def with_links(self, views: Views) -> Views:
        """Add a view of the documents that each document links to."""
        if self.links is None:
            return views
        from coview.views.container import Views

        links = Views.from_graph(self.links, ids=document_names(views), name="links")
        return _joined(views, links)

    def _with_vectors(self, views: Views) -> Views:
        """Add a view for each file of vectors."""
        if self.vector_columns and not (self.is_table and not self.view):
            raise UsageError(
                "--embedding names a column of a table; here give VIEW=FILE.npy, a file of vectors."
            )
        from coview.views.container import Views

        files = self.vector_files
        return Views.from_embeddings(files, views=views) if files else views

    # -- new documents for a fitted model --

    def new_documents(self, model: Any, *, new_terms: bool = False) -> Iterator[Views]:
        """Yield the documents as views of a fitted model, a large table in chunks.

        With `new_terms` also words that the model does not know are counted.
        """
        if not self.vector_files:
            yield from self._read_new(model, new_terms)
            return
        from coview.reading.embeddings import vector_items

        vectors = {view: list(vector_items(file)) for view, file in self.vector_files.items()}
        done = 0
        for views in self._read_new(model, new_terms):
            part = {view: rows[done : done + len(views)] for view, rows in vectors.items()}
            done += len(views)
            yield _joined(views, model.read(part))
        for view, rows in vectors.items():
            if len(rows) != done:
                raise ValueError(
                    f"{self.vector_files[view]} has {len(rows):,} vectors for {done:,} documents."
                )

    def _read_new(self, model: Any, new_terms: bool) -> Iterator[Views]:
        """Yield the documents as views of a fitted model, without those of files of vectors."""
        if self.is_table and not self.view:
            yield from self._read_table_for(model, self._path(), new_terms)
        elif self._is_image_folder():
            yield read_images_for(model, self._path(), new_terms)
        else:
            views = self._read()
            names = [n for n in model.view_names_ if n in views.names]
            if not names:
                raise ValueError(
                    f"The model has the views {', '.join(model.view_names_)}; the data have "
                    f"{', '.join(views.names)}. Give at least one of the model's views."
                )
            yield views.select(*names)

    def _is_image_folder(self) -> bool:
        from coview.views.folder import is_views_folder

        if self.view or not self._path().is_dir():
            return False
        return not is_views_folder(self._path()) and not self.is_sharded

    def _read_table_for(self, model: Any, path: Path, new_terms: bool) -> Iterator[Views]:
        """Read a table with the model's recipes, `CHUNK_ROWS` rows at a time."""
        from coview.reading.tables import check_columns, open_table
        from coview.views.container import Views

        table = open_table(path, encoding=self.encoding, delimiter=self.delimiter)
        columns = self._columns_for(model, table.columns())
        wanted = [*columns.values(), *([self.id] if self.id else [])]
        check_columns(wanted, table)
        cells_of_rows = (cells for _, cells in table.rows(wanted))
        while rows := list(islice(cells_of_rows, CHUNK_ROWS)):
            cells = list(zip(*rows, strict=True))
            raw = {source: list(cells[i]) for i, source in enumerate(columns)}
            raw = resolve_image_paths(raw, path.parent, model)
            views = model.read(raw, new_terms=new_terms)
            ids = [str(value) for value in cells[-1]] if self.id else None
            yield Views(views, ids=ids) if ids else views

    def raw_documents(self, model: Any) -> dict[str, Any]:
        """Return the raw texts and pictures of the documents, by source, as `explore` takes them.

        Matrices, views folders and .h5mu files have none.
        """
        raw = self._raw_cells(model)
        pictures = list(_pictures(model, raw).items())[:1]
        return {"texts": _texts(model, raw) or None, "pictures": dict(pictures) or None}

    def _raw_cells(self, model: Any) -> dict[str, list[Any]]:
        """Return the raw cells of the documents by source, where the data have any."""
        path = self.data
        if path is None or self.view or self.is_h5mu or self.is_sharded:
            return {}
        return raw_folder(path) if path.is_dir() else self._raw_table(model, path)

    def _raw_table(self, model: Any, path: Path) -> dict[str, list[Any]]:
        from coview.reading.tables import open_table

        table = open_table(path, encoding=self.encoding, delimiter=self.delimiter)
        columns = self._columns_for(model, table.columns())
        rows = [cells for _, cells in table.rows(list(columns.values()))]
        cells_of = list(zip(*rows, strict=True))
        raw = {source: list(cells_of[i]) for i, source in enumerate(columns)}
        return resolve_image_paths(raw, path.parent, model)

    def titles(self) -> list[str] | None:
        """Return the titles of the documents, if a column of a table has them."""
        from coview.captions import check_titles

        if self.title is None:
            return None
        if self.view or not self.is_table:
            raise UsageError("--title is a column of a table; these data have ids alone.")
        cells = self._column(self.title)
        return check_titles(cells, len(cells))

    def captions(self, model: Any) -> Captions:
        """Return titles and texts of the documents, by their ids or numbers.

        Matrices, views folders and .h5mu files have none. The text of a picture is its path.
        """
        from coview.captions import Captions, texts_by_view

        raw, titles = self._raw_cells(model), self.titles() or []
        texts: dict[str, Sequence[Any]] = {
            **texts_by_view(model, _texts(model, raw)),
            **_pictures(model, raw),
        }
        names = self._names(max(map(len, [titles, *texts.values()])))
        return Captions(
            {name: title for name, title in zip(names, titles, strict=False) if title},
            {
                view: {name: str(cell) for name, cell in zip(names, cells, strict=True) if cell}
                for view, cells in texts.items()
            },
        )

    def _names(self, n_docs: int) -> list[str]:
        """Return what `search` calls the documents of a table or a folder of pictures."""
        if self.is_table and self.id is not None:
            return [str(cell) for cell in self._column(self.id)]
        if n_docs and not self.is_table:
            return folder_ids(self._path())
        return [str(row) for row in range(n_docs)]

    def _column(self, name: str) -> list[Any]:
        from coview.reading.tables import check_columns, open_table

        table = open_table(self._path(), encoding=self.encoding, delimiter=self.delimiter)
        check_columns([name], table)
        return [cell for _, (cell,) in table.rows([name])]

    def _columns_for(self, model: Any, there: list[str]) -> dict[str, str]:
        """The column of each source of the model: as in the options, or of the same name."""
        given = {
            **parse_pairs(self.text, "--text"),
            **parse_pairs(self.tokens, "--tokens"),
            **parse_pairs(self.image, "--image"),
            **self.vector_columns,
        }
        sources = source_kinds(model)
        if not sources:
            raise ValueError(
                "The model was fitted to matrices and cannot read a table. Give matrices: "
                "--view NAME=FILE, or a views folder."
            )
        columns = given or {name: name for name in there if name in sources}
        if not columns:
            raise ValueError(
                f"The model reads the columns {', '.join(sorted(sources))}; the table has "
                f"{', '.join(there)}. Name the column of a view: --text VIEW=COLUMN."
            )
        return columns


# -- the options of a command ----------------------------------------------------------------------

ALL_DATA_OPTIONS = tuple(f.name for f in fields(DataSource) if f.name not in ("quiet", "title"))
NEW_DOCUMENT_OPTIONS = (
    *("data", "view", "text", "tokens", "image", "embedding", "layer", "encoding", "delimiter"),
)


def data_options(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the named data options in place of its parameter `source: DataSource`."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(**given: Any) -> None:
            taken = {name: given.pop(name) for name in names}
            command(source=DataSource(**taken, quiet=given.get("quiet", False)), **given)

        # typer reads the options from the signature
        parameters = _expand_source(command, names)
        run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in parameters}
        return run

    return decorate


def _expand_source(command: Callable[..., None], names: Sequence[str]) -> list[Parameter]:
    """Return the parameters of a command with `source` replaced by the data options."""
    own = get_type_hints(command, include_extras=True)
    ours = get_type_hints(DataSource, include_extras=True)
    defaults = {field.name: field.default for field in fields(DataSource)}
    found = []
    for parameter in signature(command).parameters.values():
        if parameter.name == "source":
            found += [
                Parameter(n, Parameter.KEYWORD_ONLY, default=defaults[n], annotation=ours[n])
                for n in names
            ]
        else:
            annotation = own[parameter.name]
            found.append(parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=annotation))
    return found


def _texts(model: Any, raw: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """Return the raw texts and tokens by source."""
    kinds = source_kinds(model)
    return {s: cells for s, cells in raw.items() if kinds.get(s) in ("text", "tokens")}


def _pictures(model: Any, raw: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """Return the pictures of each view that is made from some."""
    return {
        view: raw[recipe.source]
        for view, recipe in model.recipes_.items()
        if recipe is not None and recipe.kind.startswith("image") and recipe.source in raw
    }


# -- helpers ---------------------------------------------------------------------------------------


def check_not_input(output: Path | None, *inputs: Path | None) -> None:
    """Refuse to overwrite an input."""
    for given in inputs:
        if output is not None and given is not None and _place(output) == _place(given):
            raise UsageError(f"{output} is an input of this command: write to another file.")


def _place(path: Path) -> str:
    return os.path.realpath(path)  # `Path.resolve` fails at a loop of links


def document_names(views: Views) -> list[str]:
    """Return the names of the documents in an edge list: their ids, or their row numbers from 0."""
    return [str(i) for i in (range(len(views)) if views.ids is None else views.ids)]


def _joined(views: Views, more: Views) -> Views:
    """Return the views of both, with the ids and labels of the first."""
    from coview.views.container import Views

    return Views(
        {**views.matrices, **more.matrices},
        ids=views.ids,
        labels=views.labels,
        label_names=views.label_names,
        features={**views.features, **more.features},
        present={**_present(views), **_present(more)},
        recipes={**views.recipes, **more.recipes},
    )


def _present(views: Views) -> dict[str, np.ndarray]:
    return dict(zip(views.names, views.present.T, strict=True))


@contextmanager
def _reading_bar(description: str, show: bool) -> Iterator[Callable[[int, int], None]]:
    """Yield a callback (done, total) that moves a progress bar on standard error."""
    from coview.progress import progress_bar

    with progress_bar(description, 100, show=show and sys.stderr.isatty()) as advance:
        yield lambda done, total: advance(int(100 * done / max(total, 1)))
