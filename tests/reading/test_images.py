"""Pictures as counts of visual words and of colors; damage and absurd sizes are refused."""

import colorsys
import struct
import zlib

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from coview import DataWarning, Views
from coview.reading import images as images_module
from coview.reading.image_files import MAX_PIXELS, picture_size, read_picture
from coview.reading.images import ImageColorRecipe, ImageWordsRecipe, image_views
from coview.reading.recipes import recipe_class

cv2 = pytest.importorskip("cv2")

COLORS = {"red": (220, 30, 20), "green": (20, 200, 60), "blue": (20, 80, 230)}


def stripes(rng, color=(255, 255, 255), size=96):
    """Dashes on a slant."""
    y, x = np.mgrid[:size, :size]
    dashes = np.sin((x + 2 * y) * rng.uniform(0.3, 0.4)) * (x // 16 % 2)
    return drawn(rng, dashes, color)


def blobs(rng, color=(255, 255, 255), size=96):
    y, x = np.mgrid[:size, :size]
    spots = np.zeros((size, size))
    for _ in range(12):
        a, b = rng.uniform(8, size - 8, 2)
        spots += np.exp(-((x - a) ** 2 + (y - b) ** 2) / rng.uniform(10, 40))
    return drawn(rng, 2 * spots - 1, color)


def checker(rng, color=(255, 255, 255), size=96):
    cell = rng.integers(9, 13)
    y, x = np.mgrid[:size, :size] // cell
    return drawn(rng, 2.0 * ((x + y) % 2) - 1, color)


def drawn(rng, shade, color):
    """A pattern from -1 to 1 in one color, with a little noise."""
    light = np.clip(0.55 + 0.4 * shade + 0.02 * rng.standard_normal(shade.shape), 0, 1)
    return (light[:, :, None] * np.array(color)).astype(np.uint8)


@pytest.fixture(scope="module")
def pictures():
    """Thirty pictures: ten of each pattern."""
    rng = np.random.default_rng(0)
    return [draw(rng) for draw in (stripes, blobs, checker) for _ in range(10)]


@pytest.fixture(scope="module")
def parts(pictures):
    return image_views(pictures, n_words=40, sample=3000)


def save(path, picture):
    if not cv2.haveImageWriter(f"x{path.suffix}"):
        pytest.skip(f"OpenCV {cv2.__version__} does not handle {path.suffix}")
    ok, data = cv2.imencode(path.suffix, np.ascontiguousarray(picture[:, :, ::-1]))
    assert ok
    path.write_bytes(data.tobytes())
    return path


# -- visual words ---------------------------------------------------------------------------------


def test_words_are_counts_of_the_nearest_centers(pictures, parts):
    counts, centers = parts["data"]["image"].toarray(), parts["recipes"]["image"].centers
    for picture, row in zip(pictures[::7], counts[::7], strict=True):
        gray = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
        expected = np.zeros(len(centers))
        for descriptor in cv2.SIFT_create().detectAndCompute(gray, None)[1]:
            root = np.sqrt(descriptor / descriptor.sum())
            expected[((root - centers) ** 2).sum(axis=1).argmin()] += 1
        np.testing.assert_array_equal(row, expected)


def test_pictures_of_one_pattern_share_words(parts):
    counts = np.sqrt(parts["data"]["image"].toarray())
    unit = counts / np.linalg.norm(counts, axis=1, keepdims=True)
    alike = unit @ unit.T - np.eye(30)
    pattern = np.repeat([0, 1, 2], 10)
    assert (pattern[alike.argmax(axis=1)] == pattern).mean() > 0.9


def test_the_same_seed_gives_the_same_bits_whatever_the_threads(pictures, parts):
    with threadpool_limits(2):
        again = image_views(pictures, n_words=40, sample=3000)
    for name, recipe in parts["recipes"].items():
        assert (parts["data"][name] != again["data"][name]).nnz == 0
        for key, array in recipe.as_data()[1].items():
            np.testing.assert_array_equal(array, again["recipes"][name].as_data()[1][key])


def test_another_seed_gives_another_vocabulary(pictures, parts):
    other = image_views(pictures, n_words=40, sample=3000, random_state=1)
    centers = other["recipes"]["image"].centers
    assert not np.array_equal(centers, parts["recipes"]["image"].centers)


def test_a_picture_alone_is_counted_as_among_others(pictures, parts):
    for name, recipe in parts["recipes"].items():
        alone, present = recipe.counts([pictures[3]])
        np.testing.assert_array_equal(alone.toarray(), parts["data"][name][[3]].toarray())
        assert present.tolist() == [True]


def test_only_the_strongest_keypoints_are_taken(pictures):
    parts = image_views(pictures[:10], n_words=5, max_descriptors=7, color=False)
    assert parts["data"]["image"].sum(axis=1).max() == 7


def test_the_sample_has_the_size_asked_for_and_knows_every_picture(pictures):
    rng = np.random.default_rng(0)
    drawn = images_module._draw(pictures, 640, 500, 200, rng, lambda: None)
    assert drawn.shape == (200, 128)
    sources = [images_module._descriptors(picture, 500) for picture in pictures]
    owner = [
        next(i for i, rows in enumerate(sources) if (rows == row).all(axis=1).any())
        for row in drawn
    ]
    share = np.bincount(np.repeat([0, 1, 2], 10)[owner]) / 200
    totals = np.array([sum(map(len, sources[i : i + 10])) for i in (0, 10, 20)])
    np.testing.assert_allclose(share, totals / totals.sum(), atol=0.12)


def test_fewer_descriptors_than_words_make_fewer_words(pictures):
    with pytest.warns(DataWarning, match=r"different descriptors: as many .* instead of 5,000"):
        parts = image_views(pictures[:2], n_words=5000, color=False)
    counts = parts["data"]["image"]
    assert counts.shape[1] == len(parts["features"]["image"]) < 5000
    assert (counts.sum(axis=0) > 0).all()


def test_a_picture_without_a_keypoint_is_there_and_empty(pictures):
    plain = np.full((50, 50), 128, np.uint8)
    parts = image_views([pictures[0], plain, None], n_words=3)
    assert parts["present"]["image"].tolist() == [True, True, False]
    assert parts["data"]["image"].sum(axis=1).tolist()[1:] == [0, 0]
    views = Views(**parts)
    assert views.present.tolist() == [[True, True], [True, True], [False, False]]


def test_without_any_keypoint_the_error_names_the_way_out():
    with pytest.raises(ValueError, match=r"No picture has a keypoint.*n_words=0"):
        image_views([np.zeros((20, 20), np.uint8)])


def test_large_pictures_are_shrunk(pictures):
    wide = cv2.resize(pictures[0], (900, 300))
    assert read_picture(wide, 640).shape == (213, 640, 3)
    assert read_picture(wide[:1], 300).shape == (1, 300, 3)


def test_progress_counts_both_passes(pictures):
    seen = []
    image_views(
        [pictures[0], None], n_words=2, progress=lambda done, total: seen.append((done, total))
    )
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_words": -1}, "n_words must be an integer"),
        ({"n_words": 0, "color": False}, "leaves no view"),
        ({"max_side": 0}, "max_side must be"),
        ({"sample": 0}, "sample must be"),
    ],
)
def test_options_without_meaning_are_refused(pictures, options, message):
    with pytest.raises(ValueError, match=message):
        image_views(pictures[:1], **options)


def test_no_picture_at_all_is_an_error():
    with pytest.raises(ValueError, match="every path is missing"):
        image_views([None, ""])


# -- colors --------------------------------------------------------------------------------------


def test_colors_fall_into_bins_of_their_name():
    for name, color in COLORS.items():
        (counts,), _ = images_module._count(
            [np.full((9, 9, 3), color, np.uint8)], [ImageColorRecipe("image")]
        )
        features = ImageColorRecipe("image").features
        assert features[counts.indices[0]].startswith(name)
        assert counts.data.tolist() == [1000]


def test_bins_agree_with_another_conversion(rng):
    picture = rng.integers(0, 256, (40, 40, 3), dtype=np.uint8)
    features = ImageColorRecipe("image").features
    bins = images_module._color_bins(picture)
    same = 0
    for (r, g, b), found in zip(picture.reshape(-1, 3).tolist(), bins, strict=True):
        hue, saturation, value = colorsys.rgb_to_hsv(r / 255, g / 255, b / 255)
        if saturation * 255 < 32 or value * 255 < 32:
            expected = f"grey {int(value * 255) * 8 // 256}"
        else:
            name = images_module.HUES[int((hue * 8 + 0.5) % 8)]
            s, v = (int((x * 255 - 32) * 4 // 224) for x in (saturation, value))
            expected = f"{name} s{s} v{v}"
        same += features[found] == expected
    assert same / len(bins) > 0.97  # hue and saturation are whole numbers in one of the two


def test_grays_have_bins_of_their_own():
    shades = np.array([[0, 100, 255]], np.uint8)
    counts, _ = ImageColorRecipe("image").counts([shades])
    features = ImageColorRecipe("image").features
    assert features[counts.indices].tolist() == ["grey 0", "grey 3", "grey 7"]


def test_colors_do_not_depend_on_the_size_and_sum_to_a_thousand(pictures):
    large = [cv2.resize(p, (192, 192), interpolation=cv2.INTER_NEAREST) for p in pictures[:5]]
    recipe = ImageColorRecipe("image")
    small_counts, large_counts = recipe.counts(pictures[:5])[0], recipe.counts(large)[0]
    assert (small_counts.sum(axis=1) == 1000).all()
    np.testing.assert_array_equal(small_counts.toarray(), large_counts.toarray())


def test_shares_are_apportioned_by_the_largest_rest():
    counts = np.array([1, 1, 1, 0])
    assert images_module._apportion(counts, 1000).tolist() == [334, 333, 333, 0]


# -- recipes --------------------------------------------------------------------------------------


def test_recipes_come_back_from_data(pictures, parts):
    for name, recipe in parts["recipes"].items():
        settings, arrays = recipe.as_data()
        again = recipe_class(recipe.kind).from_data(settings, arrays, parts["features"][name])
        expected, found = recipe.counts(pictures[::9])[0], again.counts(pictures[::9])[0]
        np.testing.assert_array_equal(expected.toarray(), found.toarray())
        assert again.source == "image"


def test_a_recipe_of_no_pictures_gives_no_rows(parts):
    counts, present = parts["recipes"]["image"].counts([])
    assert (counts.shape, present.shape) == ((0, 40), (0,))


def test_damaged_recipes_are_refused(parts):
    settings, arrays = parts["recipes"]["image"].as_data()
    features = parts["features"]["image"]
    with pytest.raises(ValueError, match=r"shape \(40, 128\); found the shape \(39, 128\)"):
        ImageWordsRecipe.from_data(settings, {"centers": arrays["centers"][1:]}, features)
    with pytest.raises(ValueError, match="finite"):
        ImageWordsRecipe.from_data(settings, {"centers": arrays["centers"] * np.nan}, features)
    with pytest.raises(ValueError, match="no descriptor 'other'"):
        ImageWordsRecipe.from_data({**settings, "descriptor": "other"}, arrays, features)
    with pytest.raises(ValueError, match="not the bins"):
        ImageColorRecipe.from_data({"source": "a", "max_side": 5}, {}, features)


# -- files ----------------------------------------------------------------------------------------

FORMATS = [".png", ".jpg", ".bmp", ".webp", ".tiff", ".gif"]


@pytest.mark.parametrize("suffix", FORMATS)
def test_files_are_read_as_the_arrays_they_hold(pictures, tmp_path, suffix):
    path = save(tmp_path / f"ümlaut{suffix}", pictures[12])
    assert picture_size(path.read_bytes()) == (96, 96)
    found = read_picture(path, 640).astype(int)
    tolerance = 0 if suffix in (".png", ".bmp", ".tiff") else 25  # the others lose detail
    assert np.abs(found - pictures[12]).mean() <= tolerance


@pytest.mark.parametrize("suffix", FORMATS)
def test_files_cut_short_are_named(pictures, tmp_path, suffix):
    whole = save(tmp_path / f"whole{suffix}", pictures[12]).read_bytes()
    for length in (20, 40, len(whole) // 2, len(whole) - 20):
        (tmp_path / f"cut{suffix}").write_bytes(whole[:length])
        with pytest.raises(ValueError, match=rf"cut\{suffix}' is damaged"):
            read_picture(tmp_path / f"cut{suffix}", 640)


def test_other_files_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no picture '.*nowhere\.png'"):
        read_picture(tmp_path / "nowhere.png", 640)
    for data in (b"", b"just a text", b"RIFF....WAVE"):
        (tmp_path / "text.png").write_bytes(data)
        with pytest.raises(ValueError, match=r"text\.png' is not a picture in a format"):
            read_picture(tmp_path / "text.png", 640)


def png_of(width, height):
    """A small file whose header claims any size: the rows are zeros that compress well."""

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(bytes(100_000))
    parts = chunk(b"IHDR", header), chunk(b"IDAT", rows), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


@pytest.mark.parametrize("size", [(2**31 - 1, 2**31 - 1), (2**14, 2**14), (0, 5)])
def test_absurd_sizes_are_refused_before_decoding(tmp_path, size, monkeypatch):
    assert size[0] * size[1] > MAX_PIXELS or not all(size)
    (tmp_path / "bomb.png").write_bytes(png_of(*size))
    monkeypatch.setattr(cv2, "imdecode", lambda *args: pytest.fail("it was decoded"))
    with pytest.raises(ValueError, match=r"bomb\.png' claims .* pixels"):
        read_picture(tmp_path / "bomb.png", 640)


def test_parts_of_a_png_that_claim_too_much_are_refused_before_decoding(tmp_path, monkeypatch):
    whole = png_of(30, 20)
    at = whole.index(b"IDAT") - 4
    (tmp_path / "bomb.png").write_bytes(whole[:at] + b"\x7f" + whole[at + 1 :])
    monkeypatch.setattr(cv2, "imdecode", lambda *args: pytest.fail("it was decoded"))
    with pytest.raises(ValueError, match=r"bomb\.png' is damaged"):
        read_picture(tmp_path / "bomb.png", 640)


def test_recipes_of_pictures_survive_a_views_folder(pictures, parts, tmp_path):
    views = Views(**parts)
    views.save(tmp_path / "data")
    loaded = Views.load(tmp_path / "data")
    for name in views.names:
        expected, found = (v.recipes[name].counts(pictures[::9])[0] for v in (views, loaded))
        np.testing.assert_array_equal(found.toarray(), expected.toarray())


def test_headers_of_every_kind_tell_the_size():
    for data, size in [
        (b"RIFF\0\0\0\0WEBPVP8X" + bytes(8) + b"\x0f\x00\x01\x1f\x00\x00", (65552, 32)),
        (b"BM" + bytes(12) + struct.pack("<Iii", 40, 7, -9), (7, 9)),
        (b"BM" + bytes(12) + struct.pack("<IHH", 12, 7, 9), (7, 9)),
        (b"MM\0*" + struct.pack(">IHHHIHHHHII", 8, 2, 256, 3, 1, 7, 0, 257, 4, 1, 9), (7, 9)),
        (b"\xff\xd8\xff\xff\xe0\0\x04..\xff\xc2\0\x0b\x08\0\x09\0\x07\xff\xd9", (7, 9)),
        (b"unknown", None),
    ]:
        assert picture_size(data) == size


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((4, 4)),
        np.zeros((4, 4, 4), np.uint8),
        np.zeros(4, np.uint8),
        np.zeros((0, 4), np.uint8),
    ],
)
def test_arrays_that_are_no_pictures_are_named_by_their_number(array, pictures):
    with pytest.raises(ValueError, match=r"number 1 must be .* uint8"):
        ImageColorRecipe("image").counts([pictures[0], array])


# -- folders --------------------------------------------------------------------------------------


@pytest.fixture
def album(pictures, tmp_path):
    for number in (2, 0, 11):
        save(tmp_path / f"p{number:02d}.png", pictures[number])
    (tmp_path / "notes.md").write_text("not a picture")
    (tmp_path / ".hidden.png").write_bytes(b"")
    return tmp_path


def test_a_folder_gives_documents_in_the_order_of_names(album, pictures):
    views = Views.from_images(album, n_words=10, name="photo")
    assert views.names == ("photo", "photo_color")
    assert views.ids.tolist() == ["p00.png", "p02.png", "p11.png"]
    assert views.labels is None
    expected, _ = views.recipes["photo"].counts([pictures[0], pictures[2], pictures[11]])
    np.testing.assert_array_equal(views["photo"].toarray(), expected.toarray())


def test_subfolders_are_classes(pictures, tmp_path):
    for number, kind in ((0, "stripes"), (10, "blobs"), (1, "stripes")):
        (tmp_path / kind).mkdir(exist_ok=True)
        save(tmp_path / kind / f"{number}.png", pictures[number])
    views = Views.from_images(tmp_path, n_words=0)
    assert views.ids.tolist() == ["blobs/10.png", "stripes/0.png", "stripes/1.png"]
    assert views.labels.tolist() == [0, 1, 1]
    assert views.label_names == ["blobs", "stripes"]


def test_pictures_beside_subfolders_of_pictures_are_refused(album, pictures):
    (album / "more").mkdir()
    save(album / "more" / "x.png", pictures[0])
    with pytest.raises(ValueError, match=r"and subfolders with pictures .'more'"):
        Views.from_images(album)


def test_two_files_for_one_document_are_refused(album, pictures):
    save(album / "p00.jpg", pictures[0])
    with pytest.raises(ValueError, match=r"p00\.jpg' and .*p00\.png' would be one document"):
        Views.from_images(album)


def test_folders_without_pictures_are_named(tmp_path):
    with pytest.raises(ValueError, match="holds no picture"):
        Views.from_images(tmp_path)
    with pytest.raises(FileNotFoundError, match="no folder"):
        Views.from_images(tmp_path / "nowhere")


def test_captions_beside_the_pictures_are_a_view(album):
    (album / "p00.txt").write_text("gray stripes")
    (album / "p11.txt").write_text("gray blobs", encoding="utf-8-sig")
    views = Views.from_images(album, n_words=0, name="photo", caption_name="words")
    assert views.names == ("photo_color", "words")
    assert views.present[:, 1].tolist() == [True, False, True]
    assert set(views.features["words"]) == {"gray", "stripes", "blobs"}


def test_a_caption_in_another_encoding_is_named(album):
    (album / "p00.txt").write_bytes("für".encode("latin-1"))
    with pytest.raises(ValueError, match=r"p00\.txt' is not UTF-8"):
        Views.from_images(album, n_words=0)


def test_captions_can_be_given(pictures):
    views = Views.from_images(
        [pictures[0], None],
        captions=["one text", "another text"],
        ids=["a", "b"],
        labels=["x", None],
        n_words=0,
        caption_options={"stop_words": ["text"]},
    )
    assert views.present.tolist() == [[True, True], [False, True]]
    assert sorted(views.features["caption"]) == ["another", "one"]
    assert (views.ids.tolist(), views.labels.tolist()) == (["a", "b"], ["x", None])


def test_captions_must_be_as_many_as_pictures(pictures):
    with pytest.raises(ValueError, match="2 pictures, but 1 caption"):
        Views.from_images(pictures[:2], captions=["one"])
    with pytest.raises(TypeError, match="captions must be a list"):
        Views.from_images(pictures[:2], captions="one")


def test_a_caption_view_needs_a_name_of_its_own(pictures):
    with pytest.raises(ValueError, match="Two views would be called 'image_color'"):
        Views.from_images(pictures[:1], captions=["word"], caption_name="image_color", n_words=0)
