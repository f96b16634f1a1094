"""What tests of the engine share."""

import pytest

from coview.em.step import em_step


@pytest.fixture
def broken_off(monkeypatch):
    """Makes the n-th EM step from now on end like Ctrl-C."""

    def after(n_steps):
        calls = iter(range(n_steps))

        def step(*args):
            if next(calls, None) is None:
                raise KeyboardInterrupt
            return em_step(*args)

        monkeypatch.setattr("coview.em.loop.em_step", step)

    return after
