"""`load_digits_views`: scikit-learn's images of handwritten digits in five views."""

import numpy as np

from coview.views.container import Views

INK = 8  # of 16: darker pixels are part of a stroke, lighter ones its blurred edge


def load_digits_views() -> Views:
    """Load images of handwritten digits in five non-negative views.

    These are the 1,797 images of 8 x 8 pixels of :func:`sklearn.datasets.load_digits`, each
    described by several sets of features, as in the UCI data set "multiple features".

    Returns
    -------
    views : Views
        With `labels` 0 to 9 and the views

        ========== === ===========================================================================
        pixels      64 darkness of each pixel, 0 to 16
        profiles    16 ink in each row and in each column
        fourier     24 magnitudes of the low frequencies of the two-dimensional Fourier transform
        gradients   32 how strongly the darkness changes, by quadrant and by eight directions
        contour     32 empty pixels between a border and the first ink, for each row and column
        ========== === ===========================================================================

    Examples
    --------
    >>> from coview.datasets import load_digits_views
    >>> views = load_digits_views()
    >>> sorted(views.names)
    ['contour', 'fourier', 'gradients', 'pixels', 'profiles']
    >>> len(views)
    1797
    """
    from sklearn.datasets import load_digits

    digits = load_digits()
    described = {name: describe(digits.images) for name, describe in _DESCRIPTIONS.items()}
    return Views(
        {name: X for name, (X, _) in described.items()},
        ids=[f"digit_{i:04d}" for i in range(len(digits.images))],
        labels=digits.target,
        label_names=[str(name) for name in digits.target_names],
        features={name: features for name, (_, features) in described.items()},
    )


# -- descriptions: from images (n, 8, 8) to a matrix (n, features) and the names of its columns ----

Described = tuple[np.ndarray, list[str]]


def _pixels(images: np.ndarray) -> Described:
    names = [f"pixel_{row}_{column}" for row in range(8) for column in range(8)]
    return images.reshape(len(images), 64), names


def _profiles(images: np.ndarray) -> Described:
    names = [f"{line}_{i}" for line in ("row", "column") for i in range(8)]
    return np.hstack([images.sum(axis=2), images.sum(axis=1)]), names


def _fourier(images: np.ndarray) -> Described:
    """Return magnitudes of the frequencies -3 to 3, one of each pair f, -f of equal magnitude.

    The zero frequency, the amount of ink, is left out: it would outweigh the shape.
    """
    pairs = [(0, column) for column in (1, 2, 3)]
    pairs += [(row, column) for row in (1, 2, 3) for column in range(-3, 4)]
    rows, columns = np.array(pairs).T
    magnitudes = np.abs(np.fft.fft2(images))[:, rows, columns]
    return magnitudes, [f"frequency_{row}_{column}" for row, column in pairs]


def _gradients(images: np.ndarray) -> Described:
    """Return sums of gradient lengths in each quadrant, by the nearest of eight directions."""
    down, right = np.gradient(images, axis=(1, 2))
    length = np.hypot(down, right)
    # Bins centered at axes and diagonals: the many gradients along these fall well inside one.
    direction = np.round(np.arctan2(down, right) / (np.pi / 4)).astype(int) % 8
    by_direction = length[..., None] * (direction[..., None] == np.arange(8))
    cells = by_direction.reshape(len(images), 2, 4, 2, 4, 8).sum(axis=(2, 4))
    headings = ("right", "down_right", "down", "down_left", "left", "up_left", "up", "up_right")
    quadrants = ("top_left", "top_right", "bottom_left", "bottom_right")
    names = [f"{quadrant}_to_{heading}" for quadrant in quadrants for heading in headings]
    return cells.reshape(len(images), 32), names


def _contour(images: np.ndarray) -> Described:
    ink = images >= INK
    sides = {
        "left": ink,
        "right": ink[:, :, ::-1],
        "top": ink.transpose(0, 2, 1),
        "bottom": ink[:, ::-1].transpose(0, 2, 1),
    }
    distances = [_steps_to_ink(lines) for lines in sides.values()]
    return np.hstack(distances), [f"{side}_{i}" for side in sides for i in range(8)]


def _steps_to_ink(lines: np.ndarray) -> np.ndarray:
    """Return the number of pixels before the first ink of each line; all if there is none."""
    return np.where(lines.any(axis=2), lines.argmax(axis=2), lines.shape[2]).astype(float)


_DESCRIPTIONS = {
    "pixels": _pixels,
    "profiles": _profiles,
    "fourier": _fourier,
    "gradients": _gradients,
    "contour": _contour,
}
