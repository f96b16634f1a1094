"""From what a command was given to views: for fitting, and as new documents for a model."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coview.cli.output import UsageError

if TYPE_CHECKING:
    from coview.views.container import Views

CHUNK = 20_000  # rows of a table that are folded in at a time
BAR_FROM = 20_000_000  # bytes of a table, from which on reading shows its progress
_PATHS = {"data", "ids", "labels", "links"}  # options that are paths


@dataclass(frozen=True)
class Source:
    """Where the documents come from, as the options say it."""

    data: Path | None = None
    view: Sequence[str] = ()
    text: Sequence[str] = ()
    tokens: Sequence[str] = ()
    image: Sequence[str] = ()
    id: str | None = None
    label: str | None = None
    ids: Path | None = None
    labels: Path | None = None
    links: Path | None = None
    use: Sequence[str] = ()
    encoding: str = "utf-8"
    delimiter: str | None = None
    language: Sequence[str] = ()
    stop_words: bool = True
    min_df: int | None = None
    max_df: float | None = None
    max_features: int | None = None
    quiet: bool = False

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> Source:
        """From the options of a command, some of which are about the source."""
        known = {field.name for field in fields(cls)}
        given = {n: v for n, v in params.items() if n in known and v is not None}
        # typer before 0.29 has paths as text in a context
        paths = {n: Path(v) for n, v in given.items() if n in _PATHS}
        return cls(**{**given, **paths})

    @property
    def is_h5mu(self) -> bool:
        return self.data is not None and self.data.suffix.lower() == ".h5mu"

    @property
    def is_table(self) -> bool:
        return self.data is not None and not self.data.is_dir() and not self.is_h5mu

    def views(self) -> Views:
        """All of it, to fit a model to."""
        views = self._with_links(self._views())
        return views.select(*self.use) if self.use else views

    def _views(self) -> Views:
        from coview.views.container import Views

        if self.view:
            return self._from_matrices()
        path = self._path()
        if path.is_dir():
            return self._from_folder(path)
        if self.is_h5mu:
            return Views.from_mudata(path, label=self.label)
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
        return Views.from_files(named(self.view, "--view"), ids=self.ids, labels=self.labels)

    def _from_folder(self, path: Path) -> Views:
        from coview.views.container import Views

        if is_views_folder(path):
            return Views.load(path)
        with reading("Pictures", show=not self.quiet) as progress:
            return Views.from_images(path, progress=progress, caption_options=self._text_options())

    def _from_table(self, path: Path) -> Views:
        from coview.views.container import Views

        if not (self.text or self.tokens or self.image):
            self._ask_for_columns(path)
        show = not self.quiet and path.stat().st_size > BAR_FROM
        with reading(f"Reading {path.name}", show=show) as progress:
            return Views.from_table(
                path,
                text=named(self.text, "--text"),
                tokens=named(self.tokens, "--tokens"),
                image=named(self.image, "--image"),
                id=self.id,
                label=self.label,
                encoding=self.encoding,
                delimiter=self.delimiter,
                on_bytes=progress,
                **self._text_options(),
            )

    def _ask_for_columns(self, path: Path) -> None:
        from coview.reading.tables import open_table, text_columns
        from coview.wording import listing

        table = open_table(path, encoding=self.encoding, delimiter=self.delimiter)
        likely = " ".join(f"--text {name}" for name in text_columns(table))
        raise UsageError(
            f"Say which columns of {path.name} are views: --text, --tokens or --image. It has "
            f"{listing(table.columns(), 20)}." + (f" Perhaps: {likely}" if likely else "")
        )

    def _text_options(self) -> dict[str, Any]:
        languages = named(self.language, "--language")
        return {
            "languages": languages or "auto",
            "stop_words": "auto" if self.stop_words else None,
            "min_df": self.min_df,
            "max_df": self.max_df,
            "max_features": self.max_features,
        }

    def _with_links(self, views: Views) -> Views:
        """The documents that each document links to, as one more view."""
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

    # -- new documents of a model --

    def new_documents(self, model: Any) -> Iterator[Views]:
        """The documents as views of a fitted model, a large table in pieces."""
        if self.is_table and not self.view:
            yield from self._read_by_recipes(self._path(), model)
        elif not self.view and self._path().is_dir() and not is_views_folder(self._path()):
            yield _read_pictures(self._path(), model)
        else:
            views = self._views()
            names = [n for n in model.view_names_ if n in views.names]
            if not names:
                raise ValueError(
                    f"The model knows the views {', '.join(model.view_names_)}; the data have "
                    f"{', '.join(views.names)}. Give one of the model's."
                )
            yield views.select(*names)

    def _read_by_recipes(self, path: Path, model: Any) -> Iterator[Views]:
        """Columns called like the sources of the model's views, or as --text says."""
        from coview.reading.tables import check_columns, open_table
        from coview.views.container import Views

        table = open_table(path, encoding=self.encoding, delimiter=self.delimiter)
        columns = self._columns(model, table.columns())
        wanted = [*columns.values(), *([self.id] if self.id else [])]
        check_columns(wanted, table)
        for rows in in_pieces((row for _, row in table.rows(wanted)), CHUNK):
            cells = list(zip(*rows, strict=True))
            raw = {source: list(cells[i]) for i, source in enumerate(columns)}
            views = model.read(_paths_from(path.parent, raw, model))
            ids = [str(value) for value in cells[-1]] if self.id else None
            yield Views(views, ids=ids) if ids else views

    def _columns(self, model: Any, there: list[str]) -> dict[str, str]:
        given = {
            **named(self.text, "--text"),
            **named(self.tokens, "--tokens"),
            **named(self.image, "--image"),
        }
        sources = {r.source for r in model.recipes_.values() if r is not None}
        if not sources:
            raise ValueError(
                "The model was fitted to matrices and cannot read a table. Give matrices: "
                "--view NAME=FILE, or a views folder."
            )
        columns = given or {name: name for name in there if name in sources}
        if not columns:
            raise ValueError(
                f"The model reads the columns {', '.join(sorted(sources))}; the table has "
                f"{', '.join(there)}. Say which is which: --text VIEW=COLUMN."
            )
        return columns


def is_views_folder(path: Path) -> bool:
    return any(path.glob("view_*.np[yz]"))


def _read_pictures(folder: Path, model: Any) -> Views:
    """Pictures and captions, counted in the visual words and terms that the model knows."""
    from coview.reading.image_folder import read_picture_folder
    from coview.views.container import Views

    found = read_picture_folder(folder)
    raw = {"image": found.paths, "caption": found.captions}
    sources = {r.source for r in model.recipes_.values() if r is not None}
    known = {name: items for name, items in raw.items() if name in sources and items is not None}
    if not known:
        raise ValueError(f"{folder} holds pictures, which the model does not know.")
    return Views(model.read(known), ids=found.ids)


def check_not_input(output: Path | None, *inputs: Path | None) -> None:
    """Nobody means to lose the data that a command reads."""
    for given in inputs:
        if output is not None and given is not None and output.resolve() == given.resolve():
            raise UsageError(f"{output} is what is read: give another name with -o.")


def document_names(views: Views) -> list[str]:
    """Names of the documents in an edge list: their ids, or their numbers from 0."""
    return [str(i) for i in (range(len(views)) if views.ids is None else views.ids)]


def _present(views: Views) -> dict[str, Any]:
    return dict(zip(views.names, views.present.T, strict=True))


def _paths_from(folder: Path, raw: dict[str, list[Any]], model: Any) -> dict[str, list[Any]]:
    """Paths of pictures are relative to the table, as in fit."""
    kinds = {r.source: r.kind for r in model.recipes_.values() if r is not None}
    return {
        source: [folder / cell if cell else None for cell in cells]
        if kinds.get(source, "").startswith("image")
        else cells
        for source, cells in raw.items()
    }


def in_pieces(items: Iterator[Any], size: int) -> Iterator[list[Any]]:
    """Lists of at most `size` items, in order."""
    from itertools import islice

    while piece := list(islice(items, size)):
        yield piece


def named(pairs: Sequence[str], option: str) -> dict[str, str]:
    """NAME=VALUE or VALUE, which is then its own name, as a dict.

    >>> named(["en=english text", "de"], "--text")
    {'en': 'english text', 'de': 'de'}
    """
    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not name or (equals and not value):
            raise UsageError(f"{option} must be NAME=VALUE; got {pair!r}.")
        if name in found:
            raise UsageError(f"{option} names {name!r} twice.")
        found[name] = value or name
    return found


@contextmanager
def reading(what: str, show: bool):
    """Yields a callback (done, total) that shows a bar on standard error."""
    from coview.progress import progress_bar

    with progress_bar(what, 100, show=show and sys.stderr.isatty()) as advance:
        yield lambda done, total: advance(int(100 * done / max(total, 1)))
