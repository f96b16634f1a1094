"""A service under load: requests a second, latencies, right answers to bad requests, flat memory.

    python benchmarks/bench_service.py [--seconds 600] [--alone 30] [--pause 0.05]

`coview serve` runs as a process of its own on loopback, with a model of 50 topics of functions in
two views (docstring and code) and an index of all of them. First /transform and /search alone, each
for `--alone` seconds by four clients without pauses; then, for `--seconds`, everything at once:

good        four clients of /transform and /search, each with a pause of `--pause` between requests
malformed   broken JSON, wrong shapes, unknown views, wrong methods, wrong hosts
oversized   bodies above the limit, with and without a declared length
slow        headers and bodies that come to a halt: they must be cut off
leaving     clients that leave before they are answered
burst       80 requests at once every two seconds, of which some must be sent away (503)
probe       /readyz every second, and the memory of the service

Each answer is compared with the statuses it may have; any other ends up in the report, and the
exit code is then 1. It stops by itself. CPU times are more reliable on a shared machine.
"""

import argparse
import http.client
import itertools
import json
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from contextlib import closing, suppress
from pathlib import Path

import numpy as np

from coview import LinkPLSA
from coview.datasets import load_python_api

READ_TIMEOUT = 3.0
GRACE = 20.0  # seconds that an overloaded machine may take longer
MAX_BODY = 200_000  # bytes
JSON = {"Content-Type": "application/json"}
MALFORMED = [
    ("POST", "/transform", b"{", JSON, 400),
    ("POST", "/transform", b'{"documents": [{"doc": NaN}]}', JSON, 400),
    ("POST", "/transform", b'{"documents": [{"doc": "\\ud800"}]}', JSON, 400),
    ("POST", "/transform", b"[" * 2_000, JSON, 400),
    ("POST", "/transform", b'{"documents": []}', JSON, 422),
    ("POST", "/transform", b'{"documents": [{"no such view": "x"}]}', JSON, 422),
    ("POST", "/predict", b'{"documents": [{"doc": [1, "a"]}]}', JSON, 422),
    ("POST", "/search", b'{"query": {"doc": ["qqqqqq"]}}', JSON, 422),
    ("POST", "/search", b'{"like": "nobody"}', JSON, 404),
    ("POST", "/transform", b"{}", {"Content-Type": "text/plain"}, 415),
    ("DELETE", "/topics", None, {}, 405),
    ("GET", "/../../etc/passwd", None, {}, 404),
    ("GET", "/topics", None, {"Host": "evil.example"}, 400),
    ("GET", "/topics?terms=x", None, {}, 422),
]


class Tally:
    """What all clients have seen."""

    def __init__(self):
        self.lock = threading.Lock()
        self.statuses = defaultdict(Counter)
        self.seconds = defaultdict(list)
        self.wrong = []
        self.memory = []

    def add(self, kind, status, expected, seconds=None):
        with self.lock:
            self.statuses[kind][status] += 1
            if status not in expected:
                self.wrong.append(f"{kind}: {status}, expected one of {expected}")
            if seconds is not None and status == 200:
                self.seconds[kind].append(seconds)


class Client:
    """Requests on one connection, which is opened again when it was closed."""

    def __init__(self, port):
        self.port = port
        self.connection = None

    def ask(self, method, path, body, headers):
        """Return status and content; a kept connection may have ended, so that is tried again."""
        kept = self.connection is not None
        try:
            return self._ask(method, path, body, headers)
        except (OSError, http.client.HTTPException):
            self.close()
            return self.ask(method, path, body, headers) if kept else ("lost", b"")

    def _ask(self, method, path, body, headers):
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        self.connection.request(method, path, body, headers)
        answer = self.connection.getresponse()
        content = answer.read()
        if answer.will_close:
            self.close()
        return answer.status, content

    def close(self):
        if self.connection is not None:
            self.connection.close()
        self.connection = None


# -- the kinds of clients --------------------------------------------------------------------------


def good(port, tally, going, bodies, kind, pause):
    client = Client(port)
    for body in itertools.cycle(bodies):
        if not going():
            break
        began = time.perf_counter()
        # in a burst of others it may be sent away
        status, _ = client.ask("POST", kind, body, JSON)
        tally.add(kind, status, {200} if not pause else {200, 503}, time.perf_counter() - began)
        time.sleep(pause)
    client.close()


def malformed(port, tally, going):
    client = Client(port)
    for method, path, body, headers, status in itertools.cycle(MALFORMED):
        if not going():
            break
        tally.add("malformed", client.ask(method, path, body, headers)[0], {status, 503})
        time.sleep(0.02)
    client.close()


def oversized(port, tally, going):
    head = b"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    chunk = b"2000\r\n" + b" " * 0x2000 + b"\r\n"
    whole = head + b"Content-Length: %d\r\n\r\n" % (4 * MAX_BODY) + b" " * (4 * MAX_BODY)
    requests = [head + b"Content-Length: 99999999999\r\n\r\n", whole]
    requests.append(head + b"Transfer-Encoding: chunked\r\n\r\n" + chunk * (2 * MAX_BODY // 0x2000))
    for request in itertools.cycle(requests):
        if not going():
            break
        tally.add("oversized", raw_status(port, request), {413, 503})
        time.sleep(0.1)


def slow(port, tally, going):
    head = b"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    starts = {
        head: {"closed"},
        head + b"Content-Length: 50\r\n\r\n{": {408, 503},
        b"": {"closed"},
    }
    for start, expected in itertools.cycle(starts.items()):
        if not going():
            break
        began = time.perf_counter()
        status = raw_status(port, start)
        seconds = time.perf_counter() - began
        tally.add("slow", "held" if seconds > READ_TIMEOUT + GRACE else status, expected)
        tally.seconds["cut off"].append(seconds)


def leaving(port, tally, going, bodies):
    for body in itertools.cycle(bodies):
        if not going():
            break
        with closing(socket.create_connection(("127.0.0.1", port), timeout=30)) as connection:
            head = "POST /transform HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json"
            connection.sendall(f"{head}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
            time.sleep(random.random() * 0.01)
        tally.add("leaving", "left", {"left"})
        time.sleep(0.2)


def burst(port, tally, going, bodies):
    def one(body):
        tally.add("burst", Client(port).ask("POST", "/search", body, JSON)[0], {200, 503})

    while going():
        threads = [threading.Thread(target=one, args=(body,)) for body in bodies[:80]]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        time.sleep(2)


def probe(port, tally, going):
    client = Client(port)
    while going():
        tally.add("probe", client.ask("GET", "/readyz", None, {})[0], {200})
        status, text = client.ask("GET", "/metrics", None, {})
        found = re.search(rb"process_resident_memory_bytes (\d\S*)", text)
        if status == 200 and found:
            tally.memory.append(float(found[1]))
        time.sleep(1)


def raw_status(port, request):
    """Send bytes as they are; return the status of the answer, "closed" if there is none."""
    with closing(socket.create_connection(("127.0.0.1", port), timeout=60)) as connection:
        answer = b""
        with suppress(OSError):  # the answer may be there all the same
            connection.sendall(request)
        with suppress(OSError):
            while b"}" not in answer and (part := connection.recv(65536)):
                answer += part
    return int(answer.split()[1]) if answer else "closed"


# -- the run ---------------------------------------------------------------------------------------


def start_service(folder, workers):
    """Fit a model, serve it; return the process, its port and documents to ask with."""
    views = load_python_api()
    LinkPLSA(50, init="random", max_iter=40, tol=0.0, random_state=0).fit(views).save(
        folder / "m.coview"
    )
    views.save(folder / "views")
    command = [sys.executable, "-m", "coview", "serve", folder / "m.coview", "--data"]
    command += [folder / "views", "--port", 0, "--rate", 0, "--read-timeout", READ_TIMEOUT]
    command += ["--max-body", MAX_BODY / 1e6, "--max-requests", 32, "--workers", workers]
    log = (folder / "log").open("w")
    process = subprocess.Popen(list(map(str, command)), stderr=log)
    for _ in range(1200):
        found = re.search(r"Listening on http://127\.0\.0\.1:(\d+)", (folder / "log").read_text())
        if found and "Ready." in (folder / "log").read_text():
            return process, int(found[1]), views
        if process.poll() is not None:
            break
        time.sleep(0.1)
    sys.exit(f"The service did not start: {(folder / 'log').read_text()}")


def request_bodies(views, n_requests, seed=0):
    """Return bodies for /transform (8 documents) and /search, from documents of the data."""
    rng = np.random.default_rng(seed)
    transform, search = [], []
    for _ in range(n_requests):
        rows = rng.integers(len(views), size=8)
        documents = [_document(views, int(row)) for row in rows]
        transform.append(json.dumps({"documents": documents}).encode())
        asked = {"query": documents[0], "in_view": "code", "top": 10}
        search.append(json.dumps(asked).encode())
    return transform, search


def _document(views, row):
    counts, terms = views["doc"][[row]], views.features["doc"]
    pairs = zip(counts.indices, counts.data, strict=True)
    return {"doc": {str(terms[column]): float(count) for column, count in pairs}}


def run(seconds, kinds):
    """Run clients of all kinds for some seconds."""
    end = time.monotonic() + seconds
    threads = [
        threading.Thread(
            target=kind, args=(*arguments[:2], lambda: time.monotonic() < end, *arguments[2:])
        )
        for kind, *arguments in kinds
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def cpu_seconds(pid):
    """Return the CPU time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def show(title, tally, seconds, cpu=None):
    print(f"\n{title}")
    n_answers = sum(sum(statuses.values()) for statuses in tally.statuses.values())
    if cpu is not None:
        print(f"  {'':<12}{1000 * cpu / n_answers:.1f} ms of CPU for each request")
    for kind, statuses in sorted(tally.statuses.items()):
        counts = ", ".join(f"{status}: {count:,}" for status, count in statuses.most_common())
        print(f"  {kind:<12}{counts}")
        times = np.array(tally.seconds.get(kind, ()))
        if len(times):
            p50, p99 = 1000 * np.quantile(times, [0.5, 0.99])
            print(f"  {'':<12}{len(times) / seconds:.0f}/s, p50 {p50:.1f} ms, p99 {p99:.1f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--alone", type=float, default=30)
    parser.add_argument("--pause", type=float, default=0.05)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        process, port, views = start_service(Path(folder), options.workers)
        try:
            wrong = measure(options, port, views, process.pid)
            alive = process.poll() is None
        finally:
            process.terminate()
            code = process.wait(60)
        tracebacks = (Path(folder) / "log").read_text().count("Traceback")
    print(f"\nalive at the end: {alive}; exit code after SIGTERM: {code}; tracebacks: {tracebacks}")
    sys.exit(bool(wrong) or not alive or code != 0 or tracebacks > 0)


def measure(options, port, views, pid):
    transform, search = request_bodies(views, 200)
    print(f"{len(views):,} documents, 50 topics, {options.workers} workers")
    for kind, bodies in (("/transform", transform), ("/search", search)):
        tally, before = Tally(), cpu_seconds(pid)
        run(options.alone, [(good, port, tally, bodies, kind, 0)] * 4)
        used = cpu_seconds(pid) - before
        show(f"{kind} alone, four clients", tally, options.alone, used)
    tally = Tally()
    pause = options.pause
    kinds = [(good, port, tally, transform, "/transform", pause)] * 2
    kinds += [(good, port, tally, search, "/search", pause)] * 2
    kinds += [(malformed, port, tally), (oversized, port, tally), (slow, port, tally)]
    kinds += [(leaving, port, tally, transform), (burst, port, tally, search), (probe, port, tally)]
    run(options.seconds, kinds)
    show(f"everything at once, {options.seconds:.0f} s", tally, options.seconds)
    tenth = max(1, len(tally.memory) // 10)
    first, last = (np.median(part) / 1e6 for part in (tally.memory[:tenth], tally.memory[-tenth:]))
    cut = np.array(tally.seconds["cut off"])
    print(f"  slow clients cut off after {np.median(cut):.1f} s, at most {cut.max():.1f} s")
    print(f"  memory: {first:.1f} MB in the first tenth, {last:.1f} MB in the last")
    print(f"  wrong answers: {len(tally.wrong)}", *tally.wrong[:10], sep="\n    ")
    return tally.wrong


if __name__ == "__main__":
    main()
