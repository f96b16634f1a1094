"""The data a command reads: from its options to `Views`, for fitting or as new documents."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import wraps
from inspect import Parameter, Signature, signature
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from coview.cli import options
from coview.cli.options import UsageError, parse_pairs

if TYPE_CHECKING:
    import numpy as np

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
    id: options.Id = None
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
    def files(self) -> list[Path | None]:
        """All files and folders that are read."""
        matrices = [Path(file) for file in parse_pairs(self.view, "--view").values()]
        return [self.data, self.labels, self.ids, self.links, *matrices]

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
        views = self._with_links(self._read())
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
        with _reading_bar("Reading images", show=not self.quiet) as progress:
            return Views.from_images(path, progress=progress, caption_options=self._text_options())

    def _from_table(self, path: Path) -> Views:
        from coview.views.container import Views

        if not (self.text or self.tokens or self.image):
            self._raise_no_columns(path)
        text = parse_pairs(self.text, "--text")
        tokens = parse_pairs(self.tokens, "--tokens")
        image = parse_pairs(self.image, "--image")
        self._check_columns(path, [*text.values(), *tokens.values(), *image.values()])
        show = not self.quiet and path.stat().st_size > PROGRESS_BYTES
        with _reading_bar(f"Reading {path.name}", show=show) as progress:
            return Views.from_table(
                path,
                text=text,
                tokens=tokens,
                image=image,
                id=self.id,
                label=self.label,
                encoding=self.encoding,
                delimiter=self.delimiter,
                on_bytes=progress,
                **self._text_options(),
            )

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

    def _with_links(self, views: Views) -> Views:
        """Add a view of the documents that each document links to."""
        if self.links is None:
            return views
        from coview.views.container import Views

        links = Views.from_graph(self.links, ids=document_names(views), name="links")
        return Views(
            {**views.matrices, **links.matrices},
            ids=views.ids,
            labels=views.labels,
            label_names=views.label_names,
            features={**views.features, **links.features},
            present={**_present(views), **_present(links)},
            recipes={**views.recipes, **links.recipes},
        )

    # -- new documents for a fitted model --

    def new_documents(self, model: Any) -> Iterator[Views]:
        """Yield the documents as views of a fitted model, a large table in chunks."""
        from coview.views.folder import is_views_folder

        if self.is_table and not self.view:
            yield from self._read_table_for(model, self._path())
        elif not self.view and self._path().is_dir() and not is_views_folder(self._path()):
            yield _read_images_for(model, self._path())
        else:
            views = self._read()
            names = [n for n in model.view_names_ if n in views.names]
            if not names:
                raise ValueError(
                    f"The model has the views {', '.join(model.view_names_)}; the data have "
                    f"{', '.join(views.names)}. Give at least one of the model's views."
                )
            yield views.select(*names)

    def _read_table_for(self, model: Any, path: Path) -> Iterator[Views]:
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
            views = model.read(_resolve_image_paths(raw, path.parent, model))
            ids = [str(value) for value in cells[-1]] if self.id else None
            yield Views(views, ids=ids) if ids else views

    def _columns_for(self, model: Any, there: list[str]) -> dict[str, str]:
        """The column of each source of the model: as in the options, or of the same name."""
        given = {
            **parse_pairs(self.text, "--text"),
            **parse_pairs(self.tokens, "--tokens"),
            **parse_pairs(self.image, "--image"),
        }
        sources = _source_kinds(model)
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

ALL_DATA_OPTIONS = tuple(field.name for field in fields(DataSource) if field.name != "quiet")
NEW_DOCUMENT_OPTIONS = (
    *("data", "view", "text", "tokens", "image", "layer", "encoding", "delimiter"),
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


# -- helpers ---------------------------------------------------------------------------------------


def check_not_input(output: Path | None, *inputs: Path | None) -> None:
    """Refuse to overwrite an input."""
    for given in inputs:
        if output is not None and given is not None and output.resolve() == given.resolve():
            raise UsageError(f"{output} is an input of this command: write to another file.")


def document_names(views: Views) -> list[str]:
    """Return the names of the documents in an edge list: their ids, or their row numbers from 0."""
    return [str(i) for i in (range(len(views)) if views.ids is None else views.ids)]


def _present(views: Views) -> dict[str, np.ndarray]:
    return dict(zip(views.names, views.present.T, strict=True))


def _source_kinds(model: Any) -> dict[str, str]:
    """Return the kind (text, tokens, image, ...) of each raw source that the model can read."""
    return {recipe.source: recipe.kind for recipe in model.recipes_.values() if recipe is not None}


def _read_images_for(model: Any, folder: Path) -> Views:
    """Count images and captions in the visual words and terms of the model."""
    from coview.reading.image_files import read_picture_folder
    from coview.views.container import Views

    found = read_picture_folder(folder)
    raw = {"image": found.paths, "caption": found.captions}
    sources = _source_kinds(model)
    known = {name: items for name, items in raw.items() if name in sources and items is not None}
    if not known:
        raise ValueError(
            f"{folder} contains images and captions, but the model was not fitted to any."
        )
    return Views(model.read(known), ids=found.ids)


def _resolve_image_paths(
    raw: dict[str, list[Any]], folder: Path, model: Any
) -> dict[str, list[Any]]:
    """Make paths of images relative to the folder of the table, as `fit` does."""
    kinds = _source_kinds(model)
    return {
        source: [folder / cell if cell else None for cell in cells]
        if kinds.get(source, "").startswith("image")
        else cells
        for source, cells in raw.items()
    }


@contextmanager
def _reading_bar(description: str, show: bool) -> Iterator[Callable[[int, int], None]]:
    """Yield a callback (done, total) that moves a progress bar on standard error."""
    from coview.progress import progress_bar

    with progress_bar(description, 100, show=show and sys.stderr.isatty()) as advance:
        yield lambda done, total: advance(int(100 * done / max(total, 1)))
