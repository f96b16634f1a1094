"""Progress bars for long work, shown on standard error."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(description: str, total: int, show: bool = True) -> Iterator:
    """Yields `advance(n_done, note)`; does nothing unless `show`."""
    if not show:
        yield lambda done, note="": None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=28),
        TextColumn("{task.completed}/{task.total}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(description, total=total, note="")

        def advance(done: int, note: str = "") -> None:
            bar.update(task, completed=done, note=note)

        yield advance
        bar.update(task, total=bar.tasks[task].completed)
