"""Files that coview writes itself: models, indexes, states of fits.

Damaged, they must be refused by their checksums. Changed and sealed anew, with right checksums,
they must be refused by what is in them, or give results that make sense.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.campaigns.cases import Case, must_be_refused
from tests.campaigns.damage import (
    LONG_WORD,
    PATTERNS,
    craft_json,
    craft_tensor,
    damaged,
    open_seal,
    seal_again,
)
from tests.campaigns.dense import not_shares

N_DOCS, N_TOPICS = 20, 3
Use = Callable[[Path], Any]


@cache
def _views() -> Any:
    from coview.datasets import make_views

    return make_views(N_DOCS, N_TOPICS, [12, 10], doc_length=20, random_state=1)


def _fitted(kind: str, **options: Any) -> Any:
    import coview

    common = {"max_iter": 4, "tol": 0.0, "random_state": 0, "init": "random"}
    if kind == "TopicClassifier":
        model = coview.TopicClassifier(coview.LinkPLSA(**common))
        return model.fit(_views(), np.array(["x", "y", "z"])[_views().labels])
    data = _views() if kind != "texts" else _texts()
    cls = getattr(coview, "LinkPLSA" if kind == "texts" else kind)
    return cls(N_TOPICS, **common).fit(data, **options)


@cache
def _texts() -> Any:
    from coview import Views

    words = ["goal match team", "bread oven flour", "rocket orbit moon"]
    return Views.from_texts({"en": [words[i % 3] for i in range(N_DOCS)]}, languages=None)


# -- what files are made of ------------------------------------------------------------------------

MODELS = ["LinkPLSA", "MGGM", "MVPLSA", "DivergenceCoPLSA", "TopicClassifier", "texts"]


@cache
def _bytes(kind: str, what: str) -> bytes:
    """Return the bytes of a sound file of coview."""
    import tempfile
    import warnings

    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder, "file")
        if kind == "model":
            _fitted(what).save(path)
        elif kind == "index":
            _index(what).save(path)
        else:
            _save_state(what, path)
            path = Path(folder, "file.0")
        return path.read_bytes()


def _index(what: str) -> Any:
    import coview

    model = _model_of_index()
    options: dict[str, Any] = {}
    if what == "semantic":
        options = {"space": "semantic", "labels": _views().labels}
    return coview.SearchIndex(model, in_view="view_1", **options)


@cache
def _model_of_index() -> Any:
    return _fitted("LinkPLSA")


def _save_state(what: str, path: Path) -> None:
    from coview import Checkpoint

    _fitted(what, checkpoint=Checkpoint(path, every=2))


# -- cases -----------------------------------------------------------------------------------------


def make_model(rng: np.random.Generator, folder: Path) -> Case:
    """Return a model file to load and to use."""
    return _case("model", str(rng.choice(MODELS)), folder / "m.coview", _use_model, rng)


def make_index(rng: np.random.Generator, folder: Path) -> Case:
    """Return an index file to load and to search."""
    what = str(rng.choice(["topic", "semantic"]))
    return _case("index", what, folder / "m.index", _use_index, rng)


def make_checkpoint(rng: np.random.Generator, folder: Path) -> Case:
    """Return the state of a fit to resume."""
    what = str(rng.choice(["LinkPLSA", "MGGM", "DivergenceCoPLSA"]))
    return _case("checkpoint", what, folder / "m.run.0", _resume(what), rng)


def _case(kind: str, what: str, path: Path, use: Use, rng: np.random.Generator) -> Case:
    data = _bytes(kind, what)
    names = (path.name, path.name.removesuffix(".0"))
    way = rng.random()
    if way < 0.05:
        path.write_bytes(data)
        return Case(f"{what}, as it was written", lambda: use(path), _judge, names, "right")
    if way < 0.45:
        changed, how = damaged(data, rng)
        path.write_bytes(changed)
        judge = must_be_refused("damage")
        return Case(f"{what}, {how}", lambda: use(path), judge, names, "refused")
    path.write_bytes(data)
    how = _craft(path, rng)
    # a part of a header may be an argument, whose error then names it; a recipe that is not safe is
    # left out with a warning, and then raw documents of its view are refused
    names = (*names, "must be", "Raw data can be given for no view; got 'en'")
    return Case(f"{what}, {how}, re-sealed", lambda: use(path), _judge, names)


def _craft(path: Path, rng: np.random.Generator) -> str:
    sealed, tensors = open_seal(path)
    way = rng.random()
    if tensors and way < 0.45:
        name = sorted(tensors)[rng.integers(len(tensors))]
        tensors[name], how = craft_tensor(tensors[name], rng)
        how = f"{name}: {how}"
    elif tensors and way < 0.5:
        name = sorted(tensors)[rng.integers(len(tensors))]
        del tensors[name]
        how = f"{name} removed"
    elif way < 0.6 and _set(sealed, "token_pattern", pattern := str(rng.choice(PATTERNS))):
        _set(sealed, "tokenizer", None)
        how = f"token_pattern = {pattern[:20]}"
    else:
        part = "header" if way < 0.85 else ""
        changed, how = craft_json(sealed[part] if part else sealed, rng)
        sealed = {**sealed, part: changed} if part else changed
    seal_again(path, sealed, tensors)
    return how


def _set(value: Any, name: str, new: Any) -> bool:
    """Replace the value of a name in the pairs [name, value] that dicts are written as."""
    if isinstance(value, list) and len(value) == 2 and value[0] == name:
        value[1] = new
        return True
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_set(part, name, new) for part in parts)


# -- use -------------------------------------------------------------------------------------------


def _use_model(path: Path) -> Any:
    import coview
    from coview.io import info

    model = coview.load(path)
    json.dumps(info(path), default=str)
    views = _texts() if "en" in getattr(model, "view_names_", ()) else _views()
    repr(model)
    inner = getattr(model, "estimator_", model)
    coview.top_terms(inner, 3)
    mixtures = model.predict_proba(views)
    model.predict(views)
    if views is _texts():
        model.transform({"en": [LONG_WORD, "goal match"]})
    return [inner.doc_topic_, *inner.view_doc_topic_.values(), mixtures]


def _use_index(path: Path) -> Any:
    import coview

    index = coview.SearchIndex.load(path, _model_of_index())
    return list(index.query({"view_0": _views()["view_0"][[0]]}, top=5))


def _resume(what: str) -> Use:
    def use(path: Path) -> Any:
        from coview import Checkpoint

        state = Checkpoint(path.with_name(path.name.removesuffix(".0")), every=2, resume=True)
        model = _fitted(what, checkpoint=state)
        return [model.doc_topic_, *model.view_doc_topic_.values(), *model.components_.values()]

    return use


def _judge(result: Any) -> str | None:
    """Refuse mixtures that are no probabilities, and answers whose scores are no numbers."""
    for part in result:
        if isinstance(part, np.ndarray):
            wrong = not_shares(part, None, or_zero=part.shape[:1] == (N_TOPICS,))
            if wrong:
                return wrong
        elif not _is_answer(part):
            return f"an answer {part!r}"
    return None


def _is_answer(hits: Any) -> bool:
    rows = list(hits) if isinstance(hits, list | tuple) else [hits]
    return all(np.isfinite(getattr(hit, "score", 0.0)) for hit in rows)
