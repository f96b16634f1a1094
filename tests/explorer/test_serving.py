"""`coview explore --serve` in a process of its own: it says where it is, and ends by Ctrl-C."""

import re
import signal
import subprocess
import sys
import urllib.request

import pytest

from tests.explorer.conftest import NEWS


@pytest.mark.slow
def test_the_command_serves_until_it_is_interrupted(news_model, tmp_path):
    path = tmp_path / "news.coview"
    news_model.save(path)
    command = [sys.executable, "-m", "coview", "explore", str(path), "--data", str(NEWS), "--serve"]
    process = subprocess.Popen([*command, "--id", "id"], stderr=subprocess.PIPE, text=True)
    try:
        line = process.stderr.readline()
        url = re.search(r"http://127\.0\.0\.1:\d+/", line)[0]
        with urllib.request.urlopen(url, timeout=60) as answer:
            assert b'data-server="1"' in answer.read()
        with urllib.request.urlopen(f"{url}doc/0", timeout=60) as answer:
            assert b"Die Hitze" in answer.read()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0
        assert process.stderr.read() == ""
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
