"""What tests of the engine share."""

from itertools import count

import pytest

from coview.em.step import em_step


@pytest.fixture
def broken_off(monkeypatch):
    """Makes the n-th EM step from now on end like Ctrl-C."""

    def after(n_steps):
        calls = count()

        def step(*args):
            if next(calls) == n_steps:  # once: the state is kept after it, which takes a pass
                raise KeyboardInterrupt
            return em_step(*args)

        monkeypatch.setattr("coview.em.loop.em_step", step)

    return after
