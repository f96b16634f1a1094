"""What a plan accepts, the cells it is cut into, and its file."""

import json

import pytest

from coview.compare import Data, Entry, Plan, read_plan, write_plan


def test_every_model_meets_every_data_set_seed_and_rate():
    plan = Plan(["a", "b"], ["link", "nb"], task="classify", label_rates=[0.1, 0.2], seeds=3)
    found = {(c.data["name"], c.entry["name"], c.seed, c.rate) for c in plan.cells()}
    assert len(found) == len(plan.cells()) == 2 * 2 * 3 * 2


def test_seeds_come_first_so_that_a_stopped_comparison_has_some_of_everything():
    cells = Plan(["a", "b"], ["link", "nb"], seeds=[3, 5]).cells()
    assert [c.seed for c in cells] == [3] * 4 + [5] * 4


def test_a_grid_is_every_combination():
    entry = Entry("mggm", grid={"strength": [1, 2], "exponent": [0.5, 0.9]})
    params = [(e.params["strength"], e.params["exponent"]) for e in entry.expanded()]
    assert params == [(1, 0.5), (1, 0.9), (2, 0.5), (2, 0.9)]


def test_a_model_may_be_meant_for_some_data_sets_only():
    plan = Plan(["a", "b"], [Entry("link", datasets=["b"])], seeds=1)
    assert [c.data["name"] for c in plan.cells()] == ["b"]


def test_the_number_of_topics_of_the_model_goes_before_that_of_the_plan():
    plan = Plan(["a"], ["link", Entry("plsa", n_components=7)], seeds=1, n_components=4)
    assert [c.entry["n_components"] for c in plan.cells()] == [4, 7]


def test_the_key_of_a_cell_knows_everything_but_the_names_for_tables():
    def keys(**changes):
        entry = {"name": "link", "params": {"tol": 0.1}, **changes.pop("entry", {})}
        data = {"name": "a", **changes.pop("data", {})}
        (cell,) = Plan([data], [entry], seeds=[1], **changes).cells()
        return cell.key

    same = keys()
    assert keys(entry={"label": "Link-PLSA"}, data={"label": "A"}) == same
    others = [
        keys(entry={"params": {"tol": 0.2}}),
        keys(entry={"concat": True}),
        keys(entry={"views": ["x"]}),
        keys(entry={"oracle": True}),
        keys(data={"steps": ["l1"]}),
        keys(data={"options": {"n": 1}}),
        keys(n_components=3),
        keys(task="classify", label_rates=[0.1]),
        keys(task="classify", label_rates=[0.1], label_sampling="stratified"),
        keys(task="retrieve"),
    ]
    assert len({same, *others}) == 1 + len(others)


def test_the_key_does_not_depend_on_the_order_of_parameters():
    one, two = (
        Plan(["a"], [Entry("link", params=p)], seeds=[0]).cells()[0].key
        for p in ({"tol": 0.1, "max_iter": 3}, {"max_iter": 3, "tol": 0.1})
    )
    assert one == two


def test_a_cell_is_plain_data():
    plan = Plan(["a"], ["link"], task="retrieve", pairs=[("x", "y")], seeds=1)
    (cell,) = plan.cells()
    assert json.loads(json.dumps(cell.as_dict()))["settings"]["pairs"] == [["x", "y"]]


def test_parameters_that_are_no_plain_data_are_refused():
    with pytest.raises(TypeError, match="params of a plan must be plain data"):
        Entry("ltm", params={"graph": object()})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"task": "guess"}, "task must be one of .cluster., .classify., .retrieve.; got 'guess'"),
        ({"datasets": []}, "no datasets"),
        ({"seeds": []}, "no seeds"),
        ({"seeds": [-1]}, "seeds must be an integer of at least 0; got -1"),
        ({"label_rates": [0.1]}, "only there"),
        ({"task": "classify"}, "give them there"),
        ({"task": "classify", "label_rates": [5]}, "0.05 is 5 %"),
        ({"datasets": ["a", "a"]}, "same label"),
        ({"models": [{"title": "link"}]}, "no key 'title'"),
        ({"models": [{"label": "x"}]}, "lacks its name"),
        ({"models": [{"name": "link", "datasets": ["z"]}]}, "names the data sets z"),
        ({"datasets": [{"name": "a", "steps": ["log"]}]}, "steps must be one of"),
        ({"metrics": ["acuracy"]}, "no metric 'acuracy'. It has accuracy, nmi_max"),
        ({"metrics": ["map_standard"]}, "The task 'cluster' has no metric"),
    ],
)
def test_a_wrong_plan_is_refused_in_words(changes, words):
    with pytest.raises(ValueError, match=words):
        Plan(**{"datasets": ["a"], "models": ["link"], **changes})


FULL = Plan(
    [Data("mfeat", label="UCI digits", options={"views": ["pix"]}, steps=["max"]), "cora"],
    [
        "spectral",
        Entry(
            "mggm",
            label='MGGM "paper"',
            params={"scaling": None, "strength_scale": "absolute", "n_feature_topics": {"a b": 3}},
            grid={"strength": [0.5, 15000]},
            oracle=True,
        ),
        Entry("link", params={"tol": None}),
    ],
    task="classify",
    label_rates=[0.01, 0.05],
    label_sampling="stratified",
    seeds=range(3),
    metrics=["accuracy"],
    warm_up=True,
)


def test_a_plan_comes_back_from_its_file(tmp_path):
    write_plan(FULL, tmp_path / "plan.toml")
    assert read_plan(tmp_path / "plan.toml") == FULL


def test_a_plan_of_a_search_comes_back_from_its_file(tmp_path):
    plan = Plan(["wikipedia"], ["link"], task="retrieve", pairs=[["a", "b"]], spaces=["semantic"])
    write_plan(plan, tmp_path / "plan.toml")
    assert read_plan(tmp_path / "plan.toml") == plan


def test_a_plan_is_short_to_write(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text('datasets = ["mfeat"]\nmodels = ["link", "spectral"]\nseeds = 2\n')
    assert read_plan(path) == Plan(["mfeat"], ["link", "spectral"], seeds=[0, 1])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("datasets = [", "is not a TOML file"),
        ('datasets = ["a"]', "has no models"),
        ('datasets = ["a"]\nmodels = ["link"]\nseed = 3', "no key 'seed'. Did you mean 'seeds'"),
        ('datasets = ["a"]\nmodels = ["link"]\ntask = "x"', "plan.toml: task must be one of"),
    ],
)
def test_a_wrong_file_is_refused_in_words(tmp_path, text, words):
    path = tmp_path / "plan.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=words):
        read_plan(path)


def test_old_spellings_and_whole_floats_of_plans_in_files_are_read():
    plan = Plan(
        ["a"], ["link"], task="classify", label_rates=[0.1], seeds=[1.0], metrics=["labelled"]
    )
    assert plan.seeds == (1,)
    assert plan.metrics == ("labeled",)
