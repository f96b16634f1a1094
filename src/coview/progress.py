"""Progress bars on standard error."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from coview.wording import printable


class Advance(Protocol):
    """Callback that moves a progress bar."""

    def __call__(self, done: int, note: str = "") -> None: ...


@contextmanager
def progress_bar(description: str, total: int, show: bool = True) -> Iterator[Advance]:
    """Yield a callback `advance(done, note)` that moves the bar; it does nothing unless `show`."""
    if not show:
        yield _ignore
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=28),
        TextColumn("{task.completed}/{task.total}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(escape(printable(description)), total=total, note="")

        def advance(done: int, note: str = "") -> None:
            bar.update(task, completed=done, note=note)

        yield advance
        # work may end early, by convergence: leave a full bar
        bar.update(task, total=bar.tasks[task].completed)


def _ignore(done: int, note: str = "") -> None:
    """Do nothing."""
