"""The plot of reliability: what is drawn is what was measured."""

import subprocess
import sys

import numpy as np
import pytest

from coview.ensemble.reliability import ViewReliability

matplotlib = pytest.importorskip("matplotlib", reason="plots need matplotlib")
matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402
from matplotlib.colors import to_rgb  # noqa: E402


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    pyplot.close("all")


def measured(n_views, longest=8):
    rng = np.random.default_rng(n_views)
    matrix = rng.uniform(0, 1, (n_views, n_views))
    matrix[-1] = matrix[:, -1] = -0.002
    names = tuple(f"view {i} {'x' * longest}"[:longest] for i in range(n_views))
    weights = np.append(rng.uniform(0.5, 1, n_views - 1), 0.01)
    return ViewReliability(names, matrix, dict(zip(names, weights.tolist(), strict=True)), 100)


def texts(ax):
    return [text.get_text() for text in ax.texts]


@pytest.mark.parametrize("n_views", [1, 2, 6])
def test_cells_hold_the_numbers_of_the_matrix(n_views):
    found = measured(n_views)
    ax = found.plot()
    np.testing.assert_array_equal(ax.images[0].get_array(), found.matrix)
    assert ax.images[0].get_clim() == (0, 1)
    shown = np.array(texts(ax), float).reshape(n_views, n_views)
    np.testing.assert_allclose(shown, found.matrix, atol=0.00501)
    assert "-0.00" not in texts(ax)
    for labels in (ax.get_xticklabels(), ax.get_yticklabels()):
        assert [label.get_text() for label in labels] == list(found.names)


def test_bars_are_the_weights_beside_their_rows():
    found = measured(4)
    ax = found.plot()
    bars = ax.child_axes[0]
    assert [bar.get_width() for bar in bars.patches] == list(found.weights.values())
    middles = [bar.get_y() + bar.get_height() / 2 for bar in bars.patches]
    assert middles == pytest.approx([0, 1, 2, 3])
    assert bars.get_ylim() == ax.get_ylim()
    assert texts(bars) == [f"{w:.2f}" for w in found.weights.values()]


def luminance(color):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
    return np.dot([0.2126, 0.7152, 0.0722], linear)


def test_numbers_can_be_read_on_every_cell():
    # a contrast of 4.5 is what the Web Content Accessibility Guidelines ask for
    values = np.linspace(0, 1, 100).reshape(10, 10)
    names = tuple("abcdefghij")
    ax = ViewReliability(names, values, dict.fromkeys(names, 1.0), 10).plot()
    image = ax.images[0]
    for text, value in zip(ax.texts, values.ravel(), strict=True):
        both = sorted([luminance(text.get_color()), luminance(image.to_rgba(value)[:3])])
        assert (both[1] + 0.05) / (both[0] + 0.05) > 4.5, value


def test_long_names_are_cut_and_do_not_meet_the_cells():
    ax = measured(3, longest=60).plot()
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert all(len(name) == 18 and name.endswith("…") for name in names)
    ax.figure.canvas.draw()
    edge = ax.get_window_extent().x0
    assert all(label.get_window_extent().x1 <= edge for label in ax.get_yticklabels())


@pytest.mark.parametrize("n_views", [2, 6])
def test_everything_is_within_the_figure(n_views):
    ax = measured(n_views).plot()
    ax.figure.canvas.draw()
    whole = ax.figure.bbox
    for text in [*ax.get_xticklabels(), *ax.get_yticklabels(), *ax.child_axes[0].texts]:
        box = text.get_window_extent()
        assert box.x0 >= whole.x0
        assert box.x1 <= whole.x1
        assert box.y0 >= whole.y0


def test_axes_may_be_given():
    _, ax = pyplot.subplots()
    assert measured(2).plot(ax) is ax
    assert len(pyplot.get_fignums()) == 1


def test_the_same_plot_gives_the_same_bytes(tmp_path):
    files = [tmp_path / f"{i}.png" for i in (1, 2)]
    for file in files:
        measured(3).plot().figure.savefig(file)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_importing_the_module_does_not_import_matplotlib():
    code = "import coview.ensemble.plots, sys; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_matplotlib_it_is_said_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"coview\[plot\]"):
        measured(2).plot()
