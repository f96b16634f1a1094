"""load_python_api: the reader on a small package, the cache, and the whole data set once."""

import sys

import numpy as np
import pytest

from coview.datasets import _cache, load_python_api, python_api
from coview.datasets._python_source import read_items, words_of
from coview.views.container import Views

# Importing any of these modules would stop the test.
FILES = {
    "__init__.py": """
from ._impl import *
from .other import shared as shared
raise RuntimeError("imported")
""",
    "_impl.py": '''
raise RuntimeError("imported")
__all__ = ["public_one"]

def public_one(first_argument, *, keywordArgument=None):
    """Summary about whales.

    Parameters
    ----------
    first_argument : int
    """
    def inner():
        """Dolphins live here."""
        return first_argument.someAttribute2
    return inner(keyword_passed="orca strings") + np.HTTPServer

class _Private:
    """A class of seals."""
    def method(self, x):
        """Walrus docstring."""
        self.state = x

def undocumented():
    return 1

def helper():
    """Otter helper."""
''',
    "other.py": '''
def shared():
    """First one."""
''',
    "sub/__init__.py": "",
    "sub/_deep/_more.py": '''
def far_down():
    """Penguins."""

def shared():
    """Second one."""

def shared():
    """Third one."""
''',
    "tests/test_it.py": '''
def test_that():
    """Not an item."""
''',
    "externals/copied.py": '''
def copied():
    """Not an item either."""
''',
}


@pytest.fixture
def package(tmp_path):
    root = tmp_path / "zoo"
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.fixture
def items(package):
    return {item.name: item for item in read_items([package])}


# The reader


def test_items_are_named_as_a_user_imports_them(items):
    assert "zoo.public_one" in items
    assert "zoo.shared" in items


def test_what_a_package_does_not_pass_on_keeps_its_module(items):
    assert {"zoo._impl._Private", "zoo._impl.helper", "zoo.sub._deep._more.far_down"} <= set(items)


def test_names_are_unique_within_one_module(items):
    assert {"zoo.sub._deep._more.shared", "zoo.sub._deep._more.shared#2"} <= set(items)


def test_two_items_with_one_public_name_get_their_full_paths(package):
    (package / "__init__.py").write_text("from ._impl import *\nfrom ._twin import *\n")
    (package / "_twin.py").write_text('def public_one():\n    """Twin."""\n')
    names = {item.name for item in read_items([package])}
    assert {"zoo._impl.public_one", "zoo._twin.public_one"} <= names


def test_a_name_listed_in_the_docstring_of_its_package_is_public(package):
    (package / "__init__.py").write_text('"""Contents: helper"""')
    assert "zoo.helper" in {item.name for item in read_items([package])}


def test_tests_and_copies_of_other_packages_are_left_out(items):
    assert not [name for name in items if "test" in name or "copied" in name]


def test_items_without_a_docstring_are_left_out(items):
    assert not [name for name in items if "undocumented" in name]


def test_sources_are_files_and_lines(items, package):
    file, line = items["zoo.public_one"].source.split(":")
    assert file == "zoo/_impl.py"
    text = (package.parent / file).read_text().splitlines()[int(line) - 1]
    assert text.startswith("def public_one")


def test_docstrings_and_strings_are_not_code(items):
    code = {word for item in items.values() for word in item.code}
    assert not code & {"summary", "whales", "dolphins", "walrus", "seals", "orca", "strings"}


def test_code_has_names_arguments_attributes_and_keywords(items):
    words = "public one first argument keyword inner some attribute passed np http server"
    assert set(items["zoo.public_one"].code) == set(words.split())


def test_code_of_a_class_includes_its_methods(items):
    assert set(items["zoo._impl._Private"].code) == {"private", "method", "state"}


def test_private_modules_belong_to_their_public_subpackage(items):
    assert items["zoo.public_one"].label == "zoo"
    assert items["zoo.sub._deep._more.far_down"].label == "zoo.sub"


def test_the_reader_imports_nothing(package):
    read_items([package])
    assert not [name for name in sys.modules if name.split(".")[0] == "zoo"]


@pytest.mark.parametrize(
    ("identifier", "words"),
    [
        ("snake_case_name", ["snake", "case", "name"]),
        ("CamelCaseName", ["camel", "case", "name"]),
        ("PLSModel", ["pls", "model"]),
        ("toCSR", ["to", "csr"]),
        ("float64", ["float"]),
        ("x2y", []),
        ("is_not_None", []),
        ("self", []),
    ],
)
def test_identifiers_are_split_into_words(identifier, words):
    assert words_of(identifier) == words


# Words of the docstring


def test_section_headings_are_not_words():
    doc = "Whales.\n\nParameters\n----------\nx : int\n\nSee Also\n--------\nseals"
    assert python_api.doc_words(doc) == ["whales", "int", "seals"]


def test_roles_directives_addresses_and_templates_are_not_words():
    doc = ".. versionadded:: 1.2\n:func:`swim` https://example.org/page %(shape)s"
    assert python_api.doc_words(doc) == ["swim"]


def test_stop_words_digits_and_single_letters_are_not_words():
    assert python_api.doc_words("The x of n_whales2 is 3z") == ["whales"]


# From items to views


@pytest.fixture
def animals(tmp_path):
    """A package of three functions that share few words, and a copy of one of them."""
    root = tmp_path / "farm"
    root.mkdir()
    (root / "__init__.py").write_text("")
    fed = {"a": ("whale", "krill"), "b": ("seal", "fish"), "c": ("otter", "clams")}
    for file, (animal, food) in (fed | {"d": fed["c"]}).items():
        text = f'def {animal}({food}):\n    """Big {animal}: {food}."""\n    eat({animal}_{food})\n'
        (root / f"{file}.py").write_text(text)
    return root


def test_views_count_the_words_of_each_item(animals):
    views, _ = python_api._build_views([animals], min_words=2, min_df=1)
    code = dict(zip(views.features["code"], views["code"].toarray()[0], strict=True))
    nothing = dict.fromkeys(["clams", "fish", "otter", "seal"], 0)
    assert code == {"krill": 2, "whale": 2} | nothing  # "eat" is in all items: no word


def test_vocabularies_are_sorted(animals):
    views, _ = python_api._build_views([animals], min_words=2, min_df=1)
    assert list(views.features["doc"]) == sorted(views.features["doc"])


def test_copies_are_left_out(animals):
    views, sources = python_api._build_views([animals], min_words=2, min_df=1)
    assert list(views.ids) == ["farm.a.whale", "farm.b.seal", "farm.c.otter"]
    assert sources == ["farm/a.py:1", "farm/b.py:1", "farm/c.py:1"]


def test_nothing_long_enough_is_an_error_that_says_what_to_do(animals):
    with pytest.raises(ValueError, match=r"No function or class has 50 .* lower min_words"):
        python_api._build_views([animals], min_words=50, min_df=1)


def test_a_package_without_source_files_is_an_error_that_says_what_to_do(tmp_path):
    with pytest.raises(ValueError, match=r"Found no documented .* with their source files"):
        python_api._build_views([tmp_path], min_words=1, min_df=1)


@pytest.mark.parametrize("name", ["min_words", "min_df"])
def test_limits_must_be_whole_numbers(name):
    with pytest.raises(ValueError, match=f"{name} must be an integer of at least 1; got 0"):
        load_python_api(**{name: 0})


# The cache, on the small package


@pytest.fixture
def load(animals, monkeypatch, tmp_path):
    """load_python_api on the small package; `load.builds` counts how often it was built."""
    build = python_api._build_views

    def counted(*args):
        counted.builds += 1
        return build(*args)

    def load(**options):
        return load_python_api(min_words=2, min_df=1, **{"data_home": tmp_path / "home"} | options)

    counted.builds = 0
    monkeypatch.setattr(python_api, "_package_roots", lambda: [animals])
    monkeypatch.setattr(python_api, "_build_views", counted)
    load.builds = lambda: counted.builds
    load.folders = lambda: list((tmp_path / "home").iterdir())
    return load


def assert_equal(a, b):
    assert list(a.names) == list(b.names)
    for name in a.names:
        assert a[name].dtype == b[name].dtype
        np.testing.assert_array_equal(a[name].toarray(), b[name].toarray())
        assert list(a.features[name]) == list(b.features[name])
    assert list(a.ids) == list(b.ids)
    assert list(a.label_names) == list(b.label_names)
    np.testing.assert_array_equal(a.labels, b.labels)


def test_the_second_call_reads_the_cache_and_gives_the_same(load):
    (built, sources), (read, read_sources) = load(return_sources=True), load(return_sources=True)
    assert load.builds() == 1
    assert_equal(built, read)
    assert sources == read_sources


def test_without_cache_nothing_is_written(load, tmp_path):
    load(cache=False)
    assert not (tmp_path / "home").exists()


def test_the_folder_holds_all_that_the_data_set_depends_on(load):
    load()
    (folder,) = load.folders()
    assert f"numpy-{np.__version__}" in folder.name
    assert "words-2_df-1" in folder.name
    assert isinstance(Views.load(folder), Views)


def test_other_limits_do_not_read_the_same_folder(load):
    load()
    load_python_api(min_words=1, min_df=1, data_home=load.folders()[0].parent)
    assert load.builds() == 2


@pytest.mark.parametrize("damage", ["flip", "cut", "remove", "add"])
def test_a_damaged_cache_is_built_again_with_a_warning(load, damage):
    built = load()
    (folder,) = load.folders()
    path = folder / "view_code.npz"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    match damage:
        case "flip":
            path.write_bytes(data)
        case "cut":
            path.write_bytes(data[: len(data) // 2])
        case "remove":
            path.unlink()
        case "add":
            (folder / "view_more.npz").write_bytes(data)
    with pytest.warns(UserWarning, match="cannot be read .* built again") as caught:
        assert_equal(load(), built)
    assert caught[0].filename == __file__


def test_a_damaged_cache_is_mended(load):
    load()
    (folder,) = load.folders()
    (folder / "sources.txt").write_text("")
    with pytest.warns(UserWarning, match="built again"):
        load()
    load()
    assert load.builds() == 2
    assert load.folders() == [folder]  # no left-overs


def test_a_home_that_cannot_be_written_is_no_error(load, tmp_path):
    (tmp_path / "file").write_text("")
    assert len(load(data_home=tmp_path / "file" / "home")) == 3


def test_a_process_that_was_slower_leaves_the_finished_copy_alone(tmp_path):
    folder = tmp_path / "set"

    def save(value, to):
        to.mkdir()
        (to / "value").write_text(value)

    def read(of):
        return (of / "value").read_text()

    def build():
        _cache.cached(folder, lambda: "fast", save, read)  # meanwhile, in another process
        return "slow"

    assert _cache.cached(folder, build, save, read) == "slow"
    assert _cache.cached(folder, lambda: "", save, read) == "fast"
    assert list(tmp_path.iterdir()) == [folder]


def test_the_home_is_the_argument_then_the_environment(monkeypatch, tmp_path):
    monkeypatch.delenv("COVIEW_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert _cache.cache_home() == tmp_path / ".cache" / "coview"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert _cache.cache_home() == tmp_path / "xdg" / "coview"
    monkeypatch.setenv("COVIEW_CACHE", str(tmp_path / "own"))
    assert _cache.cache_home() == tmp_path / "own"
    assert _cache.cache_home("~/given") == tmp_path / "given"


# The whole data set


@pytest.fixture(scope="module")
def whole():
    return load_python_api(cache=False, return_sources=True)  # a cache may be older than the code


@pytest.mark.slow
def test_there_are_about_as_many_items_as_promised(whole):
    views, sources = whole
    assert 3000 <= len(views) <= 4000
    assert len(sources) == len(set(sources)) == len(views)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["doc", "code"])
def test_every_item_has_enough_words_and_every_word_enough_items(whole, name):
    views, _ = whole
    seen = views[name] > 0
    assert seen.sum(axis=1).min() >= 8
    assert seen.sum(axis=0).min() >= 5
    assert seen.sum(axis=0).max() <= len(views) / 2


@pytest.mark.slow
def test_ids_are_unique_and_labels_are_subpackages(whole):
    views, _ = whole
    assert len(set(views.ids)) == len(views)
    label = dict(zip(views.ids, np.array(views.label_names)[views.labels], strict=True))
    assert label["scipy.stats.pearsonr"] == "scipy.stats"
    assert label["sklearn.linear_model.Ridge"] == "sklearn.linear_model"
    assert label["numpy.linalg.svd"] == "numpy.linalg"
    assert label["numpy.lib._datasource.DataSource"] == "numpy"


@pytest.mark.slow
def test_words_tell_what_an_item_is_about(whole):
    views, _ = whole
    row = list(views.ids).index("scipy.stats.pearsonr")
    doc = set(np.array(views.features["doc"])[views["doc"][[row]].indices])
    code = set(np.array(views.features["code"])[views["code"][[row]].indices])
    assert {"pearson", "correlation", "coefficient"} <= doc
    assert {"statistic", "alternative", "norm"} <= code


def test_texts_of_items_can_be_shown():
    from coview.datasets.python_api import read_python_api_texts

    views, sources = load_python_api(return_sources=True)
    row = list(views.ids).index("scipy.signal.tf2zpk")
    texts = read_python_api_texts([sources[row], "scipy/not_there.py:1"], most=300)
    assert texts["doc"][0].startswith("Return zero, pole, gain")
    assert texts["code"][0].startswith("def tf2zpk(b, a):")
    assert "Return zero" not in texts["code"][0]
    assert max(map(len, texts["code"])) <= 300
    assert texts["doc"][1] == texts["code"][1] == ""
