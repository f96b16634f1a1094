"""Pictures as counts: visual words (quantized SIFT descriptors) and colors.

Visual words are those of Wang et al. (2016): SIFT descriptors of all training pictures are
clustered by k-means, and a picture becomes the counts of the clusters. Descriptors are compared by
Hellinger's distance (square roots of their shares: RootSIFT), as texts are elsewhere in this
package. Colors are a histogram in hue, saturation and value, with separate bins for grays, whose
hue means nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from coview.extras import need
from coview.params import check_int, seed_of
from coview.reading.codes import kmeans_centers, read_titles, titles_setting
from coview.reading.image_files import PictureFolder, read_picture, read_picture_folder
from coview.reading.recipes import is_missing
from coview.runners.native import one_native_thread
from coview.store import renamed
from coview.views.checks import DataWarning
from coview.wording import plural, quoted

N_DESCRIPTOR = 128
COLOR_TOTAL = 1000  # counts per picture, so that its size does not matter
HUES = ("red", "amber", "lime", "green", "cyan", "blue", "violet", "pink")
N_SATURATIONS = N_VALUES = 4
N_GRAYS = 8
GRAY_LIMIT = 32  # of 255: below this saturation or value the hue is noise

Progress = Callable[[int, int], Any]


def image_views(
    paths: Iterable[str | Path | np.ndarray | None],
    name: str = "image",
    *,
    n_words: int = 1024,
    color: bool = True,
    max_side: int = 640,
    max_descriptors: int = 500,
    sample: int = 200_000,
    random_state: Any = 0,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Count the visual words and colors of pictures.

    The pictures are read twice, one at a time: once to sample descriptors for the vocabulary, once
    to count. Only the counts grow with the number of pictures. The same seed gives the same bits.

    Parameters
    ----------
    paths : iterable of path, uint8 array or None
        None is a document without a picture. A picture without a keypoint (a plain wall) has the
        view, but no words.
    name : str, default="image"
        Name of the view of visual words; the view of colors is ``<name>_color``.
    n_words : int, default=1024
        Size of the vocabulary; smaller, with a warning, if there are fewer different descriptors.
        0 omits the view.
    color : bool, default=True
        Whether to make the view of colors: 128 colors and 8 grays, 1,000 counts per picture.
    max_side : int, default=640
        Larger pictures are shrunk first.
    max_descriptors : int, default=500
        Largest number of descriptors of a picture: those of the strongest keypoints.
    sample : int, default=200_000
        Descriptors from which the vocabulary is learned, drawn from all pictures.
    random_state : int, Generator, RandomState or None, default=0
    progress : callable, optional
        Called as ``progress(n_done, n_total)`` after each picture of either pass.

    Returns
    -------
    dict
        Keyword arguments of `Views`: "data", "features", "present" and "recipes", each by view.

    Examples
    --------
    >>> import numpy as np
    >>> red = np.zeros((8, 8, 3), np.uint8) + np.array([255, 0, 0], np.uint8)
    >>> parts = image_views([red, None], n_words=0)
    >>> parts["data"]["image_color"].sum(axis=1).tolist()
    [1000.0, 0.0]
    >>> parts["features"]["image_color"][parts["data"]["image_color"].indices].tolist()
    ['red s3 v3']
    """
    _check_options(n_words, color, max_side, max_descriptors, sample)
    items = list(paths)
    if all(is_missing(item) for item in items):
        raise ValueError("No picture is given: every path is missing.")
    step = _progress_step(progress, (2 if n_words else 1) * len(items))
    recipes: dict[str, Any] = {}
    if n_words:
        rng = np.random.default_rng(seed_of(random_state))
        drawn = _draw(items, max_side, max_descriptors, sample, rng, step)
        centers = _vocabulary(drawn, n_words, int(rng.integers(2**31)))
        recipes[name] = ImageWordsRecipe(name, centers, max_side, max_descriptors)
    if color:
        recipes[f"{name}_color"] = ImageColorRecipe(name, max_side)
    matrices, present = _count(items, list(recipes.values()), step)
    return {
        "data": dict(zip(recipes, matrices, strict=True)),
        "features": {view: recipe.features for view, recipe in recipes.items()},
        "present": dict.fromkeys(recipes, present),
        "recipes": recipes,
    }


def _check_options(
    n_words: int, color: bool, max_side: int, max_descriptors: int, sample: int
) -> None:
    check_int("n_words", n_words, 0)
    check_int("max_side", max_side, 1)
    check_int("max_descriptors", max_descriptors, 1)
    check_int("sample", sample, 1)
    if not (n_words or color):
        raise ValueError("n_words=0 together with color=False leaves no view to make.")


def _progress_step(progress: Progress | None, total: int) -> Callable[[], None]:
    """Return a function to call after each picture, which reports the progress."""
    done = 0

    def report_step() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total)

    return report_step


# -- pictures with captions -----------------------------------------------------------------------


def read_pictures(
    images: Any,
    captions: Any,
    ids: Any,
    labels: Any,
    names: tuple[str, str],
    caption_options: Mapping[str, Any] | None,
    options: Mapping[str, Any],
) -> dict[str, Any]:
    """Read pictures and captions as keyword arguments of `Views`; see `Views.from_images`."""
    found = _list_pictures(images)
    captions = found.captions if captions is None else _check_captions(captions, found.paths)
    arguments = image_views(found.paths, names[0], **options)
    if captions is not None:
        arguments = _with_captions(arguments, names[1], captions, caption_options or {})
    own = labels is None
    return {
        **arguments,
        "ids": (found.ids or None) if ids is None else ids,
        "labels": found.labels if own else labels,
        "label_names": found.label_names if own else None,
    }


def _list_pictures(images: Any) -> PictureFolder:
    if isinstance(images, str | Path):
        return read_picture_folder(images)
    if not isinstance(images, Iterable):
        raise TypeError(
            f"images must be a folder, or a list of paths, arrays and None; got {images!r}."
        )
    return PictureFolder(list(images), [], None)


def _check_captions(captions: Any, paths: Sequence[Any]) -> list[Any]:
    if isinstance(captions, str) or not isinstance(captions, Iterable):
        raise TypeError(f"captions must be a list of texts, or None; got {captions!r}.")
    captions = list(captions)
    if len(captions) != len(paths):
        raise ValueError(
            f"There are {plural(len(paths), 'picture')}, but {plural(len(captions), 'caption')}. "
            "Give one for each picture, None where there is none."
        )
    return captions


def _with_captions(
    images: dict[str, Any], name: str, captions: list[Any], options: Mapping[str, Any]
) -> dict[str, Any]:
    # not at the top: only captions need scikit-learn's text tools, which are slow to import
    from coview.reading.columns import join_arguments, read_texts
    from coview.reading.text_options import TextOptions

    return join_arguments(images, read_texts({name: captions}, TextOptions(**options)))


# -- visual words ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ImageWordsRecipe:
    """Counts of visual words.

    Attributes
    ----------
    source : str
        The raw column of pictures.
    centers : ndarray of float32 of shape (words, 128)
        The vocabulary: centers of RootSIFT descriptors.
    max_side, max_descriptors : int
        As in `image_views`.
    titles : tuple of str
        What the words are called, once a model was fitted: see `coview.reading.codes`.
    """

    kind: ClassVar[str] = "image_words"
    source: str
    centers: np.ndarray
    max_side: int = 640
    max_descriptors: int = 500
    titles: tuple[str, ...] = ()

    @property
    def features(self) -> np.ndarray:
        """Names of the visual words: word_0000, word_0001, ..."""
        return np.array([f"word_{i:04d}" for i in range(len(self.centers))], dtype=object)

    def counts(self, items: Iterable[Any]) -> tuple[sp.csr_array, np.ndarray]:
        """Return counts of pictures (paths, uint8 arrays or None), and which are not None."""
        (matrix,), present = _count(items, [self])
        return matrix, present

    def row(self, picture: np.ndarray) -> np.ndarray:
        """Return the counts of one picture."""
        descriptors = _root(_descriptors(picture, self.max_descriptors))
        # the squared length of a descriptor does not change which center is nearest
        distances = (self.centers**2).sum(axis=1) - 2 * descriptors @ self.centers.T
        return np.bincount(distances.argmin(axis=1), minlength=len(self.centers))

    def as_data(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return settings for JSON, and arrays."""
        settings = {
            "source": self.source,
            "descriptor": "rootsift",
            "max_side": self.max_side,
            "max_descriptors": self.max_descriptors,
            **titles_setting(self.titles),
        }
        return settings, {"centers": self.centers}

    @classmethod
    def from_data(
        cls, settings: dict[str, Any], arrays: dict[str, np.ndarray], features: np.ndarray
    ) -> ImageWordsRecipe:
        """Return the recipe that `as_data` described."""
        arrays = renamed(arrays, {"centres": "centers"})  # in early files
        centers = np.ascontiguousarray(arrays["centers"], dtype=np.float32)
        if centers.shape != (len(features), N_DESCRIPTOR) or not np.isfinite(centers).all():
            raise ValueError(
                f"The centers of visual words must be finite, of the shape ({len(features):,}, "
                f"{N_DESCRIPTOR}); found the shape {centers.shape}."
            )
        if settings["descriptor"] != "rootsift":
            raise ValueError(f"There is no descriptor {quoted(settings['descriptor'])}.")
        sizes = {n: check_int(n, settings[n], 1) for n in ("max_side", "max_descriptors")}
        titles = read_titles(settings, len(centers))
        return cls(str(settings["source"]), centers, **sizes, titles=titles)


def _descriptors(picture: np.ndarray, most: int) -> np.ndarray:
    """Return SIFT descriptors of the strongest keypoints, uint8 of shape (n, 128)."""
    cv2 = need("cv2", extra="images")
    gray = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
    keypoints, descriptors = cv2.SIFT_create().detectAndCompute(gray, None)
    if descriptors is None:
        return np.empty((0, N_DESCRIPTOR), dtype=np.uint8)
    # not chosen by SIFT itself, which keeps all that tie with the last
    strength = np.array([keypoint.response for keypoint in keypoints])
    chosen = np.sort(np.argsort(-strength, kind="stable")[:most])
    return descriptors[chosen].astype(np.uint8)


def _root(descriptors: np.ndarray) -> np.ndarray:
    """Return square roots of shares (RootSIFT), whose Euclidean distance is Hellinger's."""
    sums = descriptors.sum(axis=1, dtype=np.float32, keepdims=True)
    return np.sqrt(descriptors / np.maximum(sums, 1))


def _draw(
    items: Sequence[Any],
    max_side: int,
    most: int,
    size: int,
    rng: np.random.Generator,
    step: Callable[[], None],
) -> np.ndarray:
    """Draw at most `size` descriptors of all pictures uniformly, in random order.

    Every descriptor gets a random key and the smallest keys are kept, so no more than twice the
    sample, or the descriptors of one picture, are held in memory.
    """
    keys, held = np.empty(0), np.empty((0, N_DESCRIPTOR), dtype=np.uint8)
    new: list[np.ndarray] = []
    for number, item in enumerate(items):
        if not is_missing(item):
            new.append(_descriptors(read_picture(item, max_side, number), most))
        step()
        if sum(map(len, new)) > size or number == len(items) - 1:
            held = np.concatenate([held, *new])
            keys = np.append(keys, rng.random(len(held) - len(keys)))
            first = np.argsort(keys)[:size]
            keys, held, new = keys[first], held[first], []
    return held


def _vocabulary(descriptors: np.ndarray, n_words: int, seed: int) -> np.ndarray:
    """Return the centers of the visual words, of shape (words, 128)."""
    different = np.unique(descriptors, axis=0)
    if not len(different):
        raise ValueError(
            "No picture has a keypoint, so there are no visual words: the pictures are too small "
            "or too plain. n_words=0 makes the view of colors alone."
        )
    if len(different) <= n_words:
        if len(different) < n_words:
            message = (
                f"The pictures have {plural(len(different), 'different descriptor')}: as many "
                f"visual words, instead of {n_words:,}."
            )
            warnings.warn(message, DataWarning, stacklevel=4)
        return _root(different)
    return kmeans_centers(_root(descriptors), n_words, seed)


# -- colors --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ImageColorRecipe:
    """Counts of colors: 8 hues x 4 saturations x 4 values, and 8 grays.

    Attributes
    ----------
    source : str
        The raw column of pictures.
    max_side : int
        As in `image_views`.
    """

    kind: ClassVar[str] = "image_color"
    source: str
    max_side: int = 640

    @property
    def features(self) -> np.ndarray:
        """Names of the bins: 'red s0 v0' (pale and dark) to 'pink s3 v3', then 'grey 0', ..."""
        bins = product(HUES, range(N_SATURATIONS), range(N_VALUES))
        colors = [f"{hue} s{saturation} v{value}" for hue, saturation, value in bins]
        # these names are in saved files, so their spelling stays
        return np.array([*colors, *(f"grey {i}" for i in range(N_GRAYS))], dtype=object)

    def counts(self, items: Iterable[Any]) -> tuple[sp.csr_array, np.ndarray]:
        """Return counts of pictures (paths, uint8 arrays or None), and which are not None."""
        (matrix,), present = _count(items, [self])
        return matrix, present

    def row(self, picture: np.ndarray) -> np.ndarray:
        """Return the counts of one picture: whole numbers that sum to 1,000."""
        n_bins = len(HUES) * N_SATURATIONS * N_VALUES + N_GRAYS
        return _apportion(np.bincount(_color_bins(picture), minlength=n_bins), COLOR_TOTAL)

    def as_data(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return settings for JSON; there are no arrays."""
        return {"source": self.source, "max_side": self.max_side}, {}

    @classmethod
    def from_data(
        cls, settings: dict[str, Any], arrays: dict[str, np.ndarray], features: np.ndarray
    ) -> ImageColorRecipe:
        """Return the recipe that `as_data` described."""
        recipe = cls(str(settings["source"]), check_int("max_side", settings["max_side"], 1))
        if not np.array_equal(recipe.features, features):
            raise ValueError("The features are not the bins of a histogram of colors.")
        return recipe


def _color_bins(picture: np.ndarray) -> np.ndarray:
    """Return the bin of each pixel."""
    cv2 = need("cv2", extra="images")
    hsv = cv2.cvtColor(picture, cv2.COLOR_RGB2HSV).reshape(-1, 3).astype(np.int32)
    hue, saturation, value = hsv.T  # 0 to 179, 0 to 255, 0 to 255
    n_hues, span = len(HUES), 256 - GRAY_LIMIT
    # shifted by half a bin, so that red is the middle of its bin and not a border
    h = (2 * hue * n_hues + 180) // 360 % n_hues
    s = (saturation - GRAY_LIMIT) * N_SATURATIONS // span
    v = (value - GRAY_LIMIT) * N_VALUES // span
    colors = (h * N_SATURATIONS + s) * N_VALUES + v
    grays = n_hues * N_SATURATIONS * N_VALUES + value * N_GRAYS // 256
    return np.where((saturation < GRAY_LIMIT) | (value < GRAY_LIMIT), grays, colors)


def _apportion(counts: np.ndarray, total: int) -> np.ndarray:
    """Scale counts to whole numbers that sum to `total`, by largest remainders."""
    scaled = counts * total
    whole, rest = np.divmod(scaled, counts.sum())
    missing = total - whole.sum()
    whole[np.argsort(-rest, kind="stable")[:missing]] += 1
    return whole


# -- counting -------------------------------------------------------------------------------------


def _count(
    items: Iterable[Any], recipes: Sequence[Any], step: Callable[[], None] = lambda: None
) -> tuple[list[sp.csr_array], np.ndarray]:
    """Return the counts of each recipe, and which pictures are there; read each picture once."""
    widths = [len(recipe.features) for recipe in recipes]
    rows = [[sp.csr_array((0, width), dtype=np.float32)] for width in widths]
    present = []
    with one_native_thread("blas"):
        for number, item in enumerate(items):
            present.append(not is_missing(item))
            picture = read_picture(item, recipes[0].max_side, number) if present[-1] else None
            for made, recipe, width in zip(rows, recipes, widths, strict=True):
                row = np.zeros(width) if picture is None else recipe.row(picture)
                made.append(sp.csr_array(row[np.newaxis].astype(np.float32)))
            step()
    matrices = [sp.csr_array(sp.vstack(made, format="csr")) for made in rows]
    return matrices, np.array(present, dtype=bool)
