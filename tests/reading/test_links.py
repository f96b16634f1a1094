"""Links between documents as a view and as a graph."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from coview import LTM, DataWarning, Views
from coview.graphs.adjacency import edge_graph

EDGES = [("a", "b"), ("a", "b"), ("b", "c", 2.5), ("c", "c"), ("d", "a")]
EXPECTED = [[0, 2, 0, 0], [0, 0, 2.5, 0], [0, 0, 0, 0], [1, 0, 0, 0]]


def naive_links(edges, ids):
    matrix = np.zeros((len(ids), len(ids)))
    for source, target, *weight in edges:
        if source != target:
            matrix[ids.index(source), ids.index(target)] += weight[0] if weight else 1
    return matrix


# -- lists ----------------------------------------------------------------------------------------


def test_a_row_counts_the_documents_it_links_to():
    views = Views.from_graph(EDGES)
    assert views.names == ("links",)
    assert views.ids.tolist() == views.features["links"].tolist() == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(views["links"].toarray(), EXPECTED)


def test_ids_say_the_order_and_may_have_no_link():
    views = Views.from_graph(EDGES, ids=["d", "c", "b", "a", "lonely"])
    np.testing.assert_array_equal(views["links"].toarray()[3, 2], 2)
    assert views["links"].shape == (5, 5)
    assert views.present[:, 0].tolist() == [True, False, True, True, False]


def test_both_directions_are_two_views():
    views = Views.from_graph(EDGES, name="cites", both=True)
    assert views.names == ("cites", "cites_in")
    np.testing.assert_array_equal(views["cites_in"].toarray(), np.transpose(EXPECTED))


def test_random_links_agree_with_a_loop():
    rng = np.random.default_rng(0)
    edges = [(int(a), int(b), float(w)) for a, b, w in rng.integers(0, 9, (200, 3))]
    views = Views.from_graph(edges, ids=range(9))
    np.testing.assert_array_equal(views["links"].toarray(), naive_links(edges, list(range(9))))


def test_unknown_documents_are_an_error_or_ignored():
    with pytest.raises(ValueError, match=r"2 links from or to 2 documents .* 'c', 'd'.*'ignore'"):
        Views.from_graph([("a", "b"), ("b", "c"), ("d", "c")], ids=["a", "b"])
    with pytest.warns(DataWarning, match="1 link from or to 1 document .* 'c'; dropped"):
        views = Views.from_graph([("a", "b"), ("b", "c")], ids=["a", "b"], unknown="ignore")
    np.testing.assert_array_equal(views["links"].toarray(), [[0, 1], [0, 0]])
    with pytest.raises(ValueError, match="unknown must be one of"):
        Views.from_graph(EDGES, unknown="drop")


@pytest.mark.parametrize(
    ("edge", "message"),
    [
        ("ab", r"must be \(source, target\) or"),
        (("a",), r"must be \(source, target\) or"),
        (("a", "b", 1, 2), r"must be \(source, target\) or"),
        (7, r"must be \(source, target\) or"),
        (("a", None), "join two ids"),
        (("a", 1.5), "join two ids"),
        (("a", "b", -1), "finite weight >= 0; found -1"),
        (("a", "b", float("nan")), "finite weight"),
        (("a", "b", "x"), "finite weight >= 0; found 'x'"),
    ],
)
def test_links_that_are_none_are_named_by_their_number(edge, message):
    with pytest.raises(ValueError, match=f"Link number 1 .*{message}"):
        Views.from_graph([("a", "b"), edge])


def test_other_things_are_no_links():
    with pytest.raises(TypeError, match="Links must be a matrix"):
        Views.from_graph(5)


@pytest.mark.parametrize("edges", [[], [("a", "a")], [("a", "b", 0)]])
def test_links_that_join_nothing_are_refused(edges):
    with pytest.raises(ValueError, match="No link joins two documents"):
        Views.from_graph(edges, ids=["a", "b"])


# -- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "a,b\na,b\nb,c,2.5\nc,c\nd,a\n",
        "source,target\na,b\na,b\n\nb,c,2.5\nc,c\nd,a",
        "\ufeffFrom\tTo\tWeight\na\tb\na\tb\nb\tc\t2.5\nc\tc\nd\ta\n",
        "# a comment\n% another\na b\na  b\nb\tc 2.5\nc c\nd a\n",
        '"a";"b"\r\n"a";"b"\r\nb; c ;2.5\r\nc;c\r\nd;a\r\n',
    ],
)
def test_files_with_a_link_a_line_are_read(tmp_path, text):
    path = tmp_path / "links.txt"
    path.write_bytes(text.encode())
    views = Views.from_graph(path)
    assert views.ids.tolist() == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(views["links"].toarray(), EXPECTED)


def test_quoted_names_may_hold_commas(tmp_path):
    (tmp_path / "links.csv").write_text('"a, b",c\n')
    assert Views.from_graph(str(tmp_path / "links.csv")).ids.tolist() == ["a, b", "c"]


def test_a_wrong_line_is_named(tmp_path):
    path = tmp_path / "links.csv"
    path.write_text("# comment\na,b\na,b,much\n")
    with pytest.raises(ValueError, match=r"Line 3 of .*links\.csv must have a finite weight"):
        Views.from_graph(path)
    path.write_text("target,source\nb,a\n")
    with pytest.raises(ValueError, match=r"links\.csv: its columns are .* source must come first"):
        Views.from_graph(path)
    path.write_text("a,b\nc\n")
    with pytest.raises(ValueError, match=r"Line 2 of .*links\.csv must be \(source, target\)"):
        Views.from_graph(path)


def test_files_that_are_no_text_or_not_there_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file .*nowhere"):
        Views.from_graph(tmp_path / "nowhere")
    (tmp_path / "links.csv").write_bytes(b"a,b\n\xff\xfe,c\n")
    with pytest.raises(ValueError, match=r"Cannot read .*links\.csv"):
        Views.from_graph(tmp_path / "links.csv")


# -- matrices -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.array, sp.csr_matrix, sp.coo_array])
def test_a_matrix_links_rows_to_columns(kind):
    views = Views.from_graph(kind([[5, 1], [0, 0]]), ids=["a", "b"])
    np.testing.assert_array_equal(views["links"].toarray(), [[0, 1], [0, 0]])
    assert views.features["links"].tolist() == ["a", "b"]


def test_a_matrix_without_names_has_none():
    views = Views.from_graph(np.array([[0, 1], [1, 0]]))
    assert views.ids is views.features["links"] is views.recipes["links"] is None


def test_a_frame_brings_its_names():
    frame = pd.DataFrame([[0, 1], [1, 0]], index=["x", "y"], columns=["x", "y"])
    assert Views.from_graph(frame).ids.tolist() == ["x", "y"]


def test_matrices_that_are_no_links_are_refused():
    with pytest.raises(ValueError, match=r"found the shape \(3, 2\).*tolist"):
        Views.from_graph(np.ones((3, 2), int))
    with pytest.raises(ValueError, match="3 ids for the 2 documents"):
        Views.from_graph(np.ones((2, 2)), ids=["a", "b", "c"])
    with pytest.raises(ValueError, match="Negative values"):
        Views.from_graph(np.array([[0, -1], [1, 0]]))
    with pytest.raises(ValueError, match=r"Negative values.*weights of links"):
        Views.from_graph(np.array([[0.5, -1.5], [1.5, 0.5]]))


# -- new documents, and graphs --------------------------------------------------------------------


def test_the_recipe_counts_the_links_of_new_documents():
    recipe = Views.from_graph(EDGES, both=True).recipes["links_in"]
    counts, present = recipe.counts([["a", "c", "a", "new"], None, []])
    np.testing.assert_array_equal(counts.toarray(), [[2, 0, 1, 0], [0] * 4, [0] * 4])
    assert present.tolist() == [True, False, True]
    assert recipe.source == "links_in"


def test_a_graph_is_symmetric_and_has_the_larger_weight():
    edges = [*EDGES, ("b", "a", 5)]
    graph = edge_graph(edges, list("abcd")).toarray()
    links = naive_links(edges, list("abcd"))
    np.testing.assert_array_equal(graph, np.maximum(links, links.T))


def test_a_graph_needs_known_documents(tmp_path):
    (tmp_path / "links.csv").write_text("a,b\nb,z\n")
    with pytest.raises(ValueError, match="'z'"):
        edge_graph(tmp_path / "links.csv", ["a", "b"])
    with pytest.warns(DataWarning, match="dropped"):
        graph = edge_graph(tmp_path / "links.csv", ["a", "b"], unknown="ignore")
    assert graph.toarray().tolist() == [[0, 1], [1, 0]]


def test_a_graph_of_links_fits_the_models():
    rng = np.random.default_rng(0)
    views = Views({"words": rng.poisson(2, (4, 6))}, ids=list("abcd"))
    model = LTM(2, graph=edge_graph(EDGES, views.ids), random_state=0).fit(views)
    assert model.doc_topic_.shape == (4, 2)
