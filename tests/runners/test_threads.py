"""The pool: order, errors, interruption."""

import time

import pytest

from coview.runners.threads import ThreadRunner, effective_threads


def test_results_come_in_order_whatever_finishes_first():
    def work(i):
        time.sleep(0.02 if i == 0 else 0)
        return i

    with ThreadRunner(4) as run:
        assert list(run(work, range(20))) == list(range(20))


def test_an_error_in_a_block_reaches_the_caller():
    def work(i):
        if i == 3:
            raise ValueError("block 3")
        return i

    with pytest.raises(ValueError, match="block 3"), ThreadRunner(2) as run:
        list(run(work, range(10)))


def test_no_block_is_begun_after_an_interrupt():
    begun = []

    def work(i):
        begun.append(i)
        if i == 1:
            raise KeyboardInterrupt
        time.sleep(0.01)

    with pytest.raises(KeyboardInterrupt), ThreadRunner(1) as run:
        list(run(work, range(100)))
    assert len(begun) < 10


def test_n_jobs_counts_as_in_scikit_learn():
    assert effective_threads(3) == 3
    assert effective_threads(-1) == effective_threads(None) >= 1
    assert effective_threads(-1000) == 1
