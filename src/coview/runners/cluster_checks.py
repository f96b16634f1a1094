"""Checks of a cluster before the first task: versions of its hosts, and the storage they see."""

from __future__ import annotations

import hashlib
import platform
import time
import uuid
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coview import __version__
from coview.shards import storage
from coview.wording import plural

if TYPE_CHECKING:
    from distributed import Client

CODE = ("em", "ensemble", "kernels", "runners", "shards", "views")  # what a task may run
SHOWN = 3  # hosts in a message


class ClusterLost(ConnectionError):
    """The cluster cannot go on: its scheduler does not answer, or there are no workers."""


def ask_workers(client: Client, timeout: float, function: Callable, *args: Any) -> dict[str, Any]:
    """Return what a function says on each worker, by address; an error where it raised one.

    Workers may leave while they are asked: those are left out, and the others asked again.
    """
    from distributed.comm import CommClosedError

    scheduler: Any = client.scheduler
    ends = time.monotonic() + timeout
    while True:
        try:
            left = max(ends - time.monotonic(), 1.0)
            answers = client.run(function, *args, on_error="return", callback_timeout=left)
            there = client.sync(scheduler.ncores, callback_timeout=left)
        except (CommClosedError, TimeoutError) as error:
            raise ClusterLost(
                f"Not all hosts of the cluster at {scheduler.address} have answered in "
                f"{timeout:g} s ({type(error).__name__})."
            ) from error
        answers = {address: answer for address, answer in answers.items() if address in there}
        broken = [a for a in answers.values() if isinstance(a, CommClosedError | TimeoutError)]
        if (answers and not broken) or time.monotonic() > ends:
            return answers
        time.sleep(0.2)


# -- versions --------------------------------------------------------------------------------------


@cache
def here() -> dict[str, str]:
    """Return the versions that decide bits, as this process has them.

    >>> sorted(here())
    ['coview', 'numba', 'numpy', 'python', "the code of coview's engine"]
    """
    import numba
    import numpy as np

    return {
        "python": ".".join(platform.python_version_tuple()[:2]),
        "coview": __version__,
        "numpy": np.__version__,
        "numba": numba.__version__,
        "the code of coview's engine": _code_of(Path(__file__).parents[1]),
    }


def _code_of(package: Path) -> str:
    """Return a hash of the sources: the same version may be another state of a checkout."""
    digest = hashlib.sha256()
    for part in CODE:
        for file in sorted((package / part).rglob("*.py")):
            digest.update(file.relative_to(package).as_posix().encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def mismatch(found: Mapping[str, str], expected: Mapping[str, str]) -> str:
    """Return what is different, in words; an empty text if nothing is.

    >>> mismatch({"numpy": "2.3.0", "python": "3.12"}, {"numpy": "2.4.1", "python": "3.12"})
    'numpy 2.3.0, where the driver has 2.4.1'
    """
    different = (
        f"{name} {found.get(name)}, where the driver has {expected[name]}"
        for name in expected
        if found.get(name) != expected[name]
    )
    return "; ".join(different)


def facts() -> dict[str, Any]:
    """Return versions and processor of this process; run on every host."""
    from llvmlite import binding

    return {"versions": here(), "processor": str(binding.get_host_cpu_name())}


def check_hosts(client: Client, timeout: float) -> None:
    """Raise an error if a worker or the scheduler has no coview, or another version of something.

    The scheduler is asked as well: it reads the tasks that it gives out.
    """
    scheduler: Any = client.scheduler
    try:
        found = client.run_on_scheduler(facts, callback_timeout=timeout)
    except Exception as error:
        found = error
    answers = {f"the scheduler {scheduler.address}": found}
    workers = ask_workers(client, timeout, facts)
    answers |= {f"the worker {address}": found for address, found in workers.items()}
    wrong = {host: said for host, found in answers.items() if (said := _wrong(found))}
    if wrong:
        raise ValueError(
            f"{_listed(wrong)}. All hosts of the cluster and the driver need the same versions: "
            "install the same environment everywhere, with coview[dask] in it."
        )
    computing = [facts(), *workers.values()]  # a scheduler computes nothing
    _warn_of_processors({found["processor"] for found in computing})


def _wrong(found: Any) -> str:
    """Return what is wrong with a host, by its answer, which may be an error."""
    # Dask may put the error of a host into a plain Exception, as a text
    if isinstance(found, Exception) and "No module named 'coview'" in str(found):
        return "has no coview"
    if isinstance(found, Exception) and ("coview" in str(found) or isinstance(found, ImportError)):
        return f"has another coview, or lacks what it needs: {found}"
    if isinstance(found, Exception):
        return f"does not answer: {type(found).__name__}: {found}"
    said = mismatch(found["versions"], here())
    return said and f"has {said}"


def _warn_of_processors(names: set[str]) -> None:
    if len(names) > 1:
        warnings.warn(
            f"The hosts of the cluster have different processors ({', '.join(sorted(names))}): the "
            "last bits of a fit may depend on which of them did what.",
            RuntimeWarning,
            stacklevel=2,
        )


# -- storage ---------------------------------------------------------------------------------------


def check_storage(client: Client, folder: str, same: Sequence[str], timeout: float) -> None:
    """Raise an error if a worker does not see the same files as the driver does.

    Every worker reads a file that the driver has written to `folder`, and writes one that the
    driver reads; and the files `same` must have the same bytes for all.
    """
    name = storage.join(folder, f"token-{uuid.uuid4().hex}")
    answers: dict[str, Any] = {}
    storage.write_atomic(name, name.encode())
    try:
        digests = {file: storage.digest_of(file) for file in same}
        answers = ask_workers(client, timeout, answer_token, name, list(same))
        wrong = {
            f"the worker {address}": said
            for address, answer in answers.items()
            if (said := _wrong_storage(answer, digests, _own(name, address)))
        }
    finally:
        for file in (name, *(_own(name, address) for address in answers)):
            storage.remove_file(file)
    if wrong:
        raise OSError(
            f"{_listed(wrong)}. Tasks read and write files, so every worker needs to see the same "
            f"ones under the same name, here {folder}: take a folder of a shared file system, or a "
            "URL such as s3://bucket/folder."
        )


def answer_token(name: str, same: Sequence[str], dask_worker: Any) -> dict[str, str]:
    """Write the driver's token to a file of this worker's own; return checksums of files."""
    storage.write_atomic(_own(name, dask_worker.address), storage.read_bytes(name))
    return {file: storage.digest_of(file) for file in same}


def _wrong_storage(answer: Any, digests: Mapping[str, str], own: str) -> str:
    """Return what is wrong with the storage that a worker sees, in words."""
    if isinstance(answer, FileNotFoundError):
        return f"does not see {answer.filename or answer}"
    if isinstance(answer, Exception):
        return f"cannot use the storage ({type(answer).__name__}: {answer})"
    for file, digest in digests.items():
        if answer[file] != digest:
            return f"has another file in the place of {file}"
    return "" if storage.exists(own) else "writes to another place than the driver reads from"


def _own(name: str, address: str) -> str:
    return f"{name}-{_short(address)}"


def _short(address: str) -> str:
    return hashlib.sha256(address.encode()).hexdigest()[:12]


def _listed(wrong: Mapping[str, str]) -> str:
    """Return the hosts with what is wrong with them, the first few of many."""
    said = [f"{host} {what}" for host, what in list(wrong.items())[:SHOWN]]
    if len(wrong) > SHOWN:
        said.append(f"and {plural(len(wrong) - SHOWN, 'more host')} likewise")
    text = "; ".join(said)
    return text[0].upper() + text[1:]
