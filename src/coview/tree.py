"""A tree of topics: many fine topics are read through a few coarse ones.

For each coarser level, a model with that many topics is fitted. Each fine topic then goes to the
coarse topic with which it shares the most mass,

    m(y, z) = sum_d p(y|d) p(z|d)        parent(y) = argmax_z m(y, z)                            (1)

and the level *is* the sum of its children, so it is a topic model of all views (`at_level`). The
fitted model itself is not kept. Levels are nested: the coarsest is decided first, and each topic of
the next level goes as a whole to one of its topics.

`coview.topic_tree` makes the tree of a model, `model.topic_tree_` keeps it, `model.at_level(n)` is
the model with n topics.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coview.wording import plural, printable

FEWEST = 6  # topics that are worth a coarser level
FAR_APART = 6  # levels further apart than this factor have one between them
MOST_DOCS = 4_000  # documents that coarser levels are fitted to
MOST_ITER = 50  # of EM: the start decides, and topics are wanted, not their last digits
N_WORDS = 3  # that a topic without a name is called by
HOW_TO = "model.topic_tree_ = coview.topic_tree(model, views)"


@dataclass(frozen=True)
class TopicTree:
    """The topics of a model and the coarser topics that they are part of.

    Attributes
    ----------
    levels : tuple of int
        How many topics each level has, from fine (the topics of the model) to coarse.
    members : tuple of tuple of int
        For each coarser level, the topic of that level that each fine topic is part of. Coarse
        topics are numbered by size, from the largest.
    shares : tuple of float
        The share of the documents that each fine topic has; that of a coarse topic is the sum.
    names : tuple of tuple of (str or None)
        For each level, what its topics are called, None where nobody has named one.
    words : tuple of tuple of str
        For each level, the first words of each topic, to tell those apart that have no name.

    Examples
    --------
    >>> tree = TopicTree(
    ...     levels=(3, 2),
    ...     members=((0, 1, 0),),
    ...     shares=(0.5, 0.3, 0.2),
    ...     names=((None, None, None), (None, "Food")),
    ...     words=(("goal, team", "salt, garlic", "ball, net"), ("goal, ball", "salt, garlic")),
    ... )
    >>> print(tree)
    3 topics in 2
    0  goal, ball  70%
      0  goal, team  50%
      2  ball, net  20%
    1  Food  30%
      1  salt, garlic  30%
    """

    levels: tuple[int, ...]
    members: tuple[tuple[int, ...], ...]
    shares: tuple[float, ...]
    names: tuple[tuple[str | None, ...], ...]
    words: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        """Refuse parts that are no tree: also those that a damaged file may hold."""
        k, n_levels = len(self.shares), len(self.levels)
        lengths = len(self.members) + 1, len(self.names), len(self.words)
        if n_levels < 2 or lengths != (n_levels,) * 3 or self.levels[0] != k:
            raise ValueError(f"the tree has the levels {self.levels!r} and parts of other levels")
        if not all(isinstance(s, float) and 0 <= s <= 1 + 1e-3 for s in self.shares):
            raise ValueError("the shares of topics in the tree are not between 0 and 1")
        below: Sequence[int] = range(k)
        for i, (size, named, words) in enumerate(
            zip(self.levels, self.names, self.words, strict=True)
        ):
            member = self.members[i - 1] if i else tuple(range(k))
            numbers = all(type(z) is int for z in member) and sorted({*member}) == [*range(size)]
            nested = len({*zip(below, member, strict=False)}) == len({*below})
            if len(member) != k or not numbers or not nested or (i and size >= self.levels[i - 1]):
                raise ValueError(f"the tree has no levels within each other: {self.levels!r}")
            texts = all(n is None or isinstance(n, str) for n in named) and all(
                isinstance(w, str) for w in words
            )
            if not texts or (len(named), len(words)) != (size, size):
                raise ValueError(f"the tree has other names than topics at level {size!r}")
            below = member

    # -- what is where ---------------------------------------------------------------------

    def level(self, n_topics: int) -> int:
        """Return which level has this many topics: 0 is the fine one."""
        if n_topics not in self.levels or isinstance(n_topics, bool):
            raise ValueError(
                f"The tree has no level of {n_topics!r} topics; its levels have "
                f"{_numbers(self.levels)} topics. {HOW_TO[:-1]}, levels=...) makes others."
            )
        return self.levels.index(n_topics)

    def member(self, level: int) -> tuple[int, ...]:
        """Return the topic of a level (0 is the fine one) that each fine topic is part of."""
        return self.members[level - 1] if level else tuple(range(self.levels[0]))

    def parents(self, level: int) -> tuple[int, ...]:
        """Return the topic of the next coarser level that each topic of a level is part of."""
        found = dict(zip(self.member(level), self.member(level + 1), strict=True))
        return tuple(found[z] for z in range(self.levels[level]))

    def share(self, level: int) -> tuple[float, ...]:
        """Return the share of the documents that each topic of a level has."""
        return tuple(_sums(self.shares, self.member(level)))

    def label(self, level: int, topic: int) -> str:
        """Return what a topic is called: its name, its first words, or its number."""
        name = self.names[level][topic] or self.words[level][topic]
        return name or f"Topic {topic}"

    def walk(self, hidden: Collection[int] = ()) -> Iterator[tuple[int, int]]:
        """Yield (level, topic) from coarse to fine, children after their parent, largest first.

        Parameters
        ----------
        hidden : collection of int
            Fine topics to leave out; coarse ones are left out with the last of their children.
        """
        shown = [z for z in range(self.levels[0]) if z not in hidden]
        yield from self._below(len(self.levels) - 1, shown)

    def _below(self, level: int, fine: list[int]) -> Iterator[tuple[int, int]]:
        member, shares = self.member(level), self.share(level)
        for z in sorted({member[y] for y in fine}, key=lambda z: (-shares[z], z)):
            yield level, z
            if level:
                yield from self._below(level - 1, [y for y in fine if member[y] == z])

    # -- as text and data ------------------------------------------------------------------

    def to_text(self, *, hidden: Collection[int] = ()) -> str:
        """Return the tree as lines, each topic below the one that it is part of.

        Parameters
        ----------
        hidden : collection of int
            Fine topics to leave out.
        """
        fine, *coarser = self.levels
        lines = [f"{plural(fine, 'topic')} in {' in '.join(map(str, coarser))}"]
        for level, z in self.walk(hidden):
            indent = "  " * (len(self.levels) - 1 - level)
            name = printable(self.label(level, z), 80)
            lines.append(f"{indent}{z}  {name}  {self.share(level)[z]:.0%}")
        return "\n".join(lines)

    def to_dict(self, *, hidden: Collection[int] = ()) -> dict[str, Any]:
        """Return the tree as plain data, nested from coarse to fine.

        Parameters
        ----------
        hidden : collection of int
            Fine topics to leave out.

        Returns
        -------
        dict
            ``levels`` (numbers of topics, from fine to coarse) and ``topics``: a list of dicts with
            ``level`` (how many topics it has), ``topic`` (the number), ``name`` (or None),
            ``words``, ``share`` and, unless it is a fine topic, ``topics``, its children.
        """
        last = len(self.levels)
        open_lists: list[list[Any]] = [[]] * (last + 1)  # by level, where the next topic goes
        for level, z in self.walk(hidden):
            found: dict[str, Any] = {
                "level": self.levels[level],
                "topic": z,
                "name": self.names[level][z],
                "words": self.words[level][z],
                "share": self.share(level)[z],
            }
            if level:
                found["topics"] = open_lists[level - 1] = []
            open_lists[level].append(found)
        return {"levels": list(self.levels), "topics": open_lists[last - 1]}

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<TopicTree: {' in '.join(map(str, self.levels))} topics>"

    # -- trees that follow from it ---------------------------------------------------------

    def renamed(self, n_topics: int, names: Sequence[str | None]) -> TopicTree:
        """Return the tree with other names at one level.

        Parameters
        ----------
        n_topics : int
            How many topics the level has.
        names : sequence of (str or None)
            A name for each of its topics, None for those that have none.
        """
        level = self.level(n_topics)
        if len(names) != n_topics:
            raise ValueError(f"There are {plural(len(names), 'name')} for {n_topics} topics.")
        given = tuple(None if name is None else str(name) for name in names)
        return replace(self, names=(*self.names[:level], given, *self.names[level + 1 :]))

    def merged(self, new_of: Sequence[int]) -> TopicTree | None:
        """Return the tree after some fine topics became one; None if no level is coarser.

        Topics of different parents go to that of the largest of them.

        Parameters
        ----------
        new_of : sequence of int
            The new number of each fine topic.
        """
        by_size = sorted(range(len(new_of)), key=lambda y: (self.shares[y], -y))
        largest = {new_of[y]: y for y in by_size}  # new number: its largest part
        firsts = [largest[z] for z in sorted(largest)]
        coarser = [[member[y] for y in firsts] for member in self.members]
        names = [[self.names[0][y] for y in firsts], *self.names[1:]]
        words = [[self.words[0][y] for y in firsts], *self.words[1:]]
        return _numbered(_sums(self.shares, new_of), coarser, names, words)


def _numbered(
    shares: Sequence[float],
    members: Sequence[Sequence[int]],
    names: Sequence[Sequence[str | None]],
    words: Sequence[Sequence[str]],
) -> TopicTree | None:
    """Return the tree with coarse topics numbered by size; None if no level is coarser.

    Levels that are no coarser than those below them, or a single topic, are left out; so are
    topics without children.
    """
    kept = [(list(range(len(shares))), list(names[0]), list(words[0]))]
    for member, named, said in zip(members, names[1:], words[1:], strict=True):
        sums = _sums(shares, member)
        found = sorted({*member}, key=lambda z: (-sums[z], member.index(z)))
        if 1 < len(found) < len({*kept[-1][0]}):
            new_of = {z: new for new, z in enumerate(found)}
            parts = [new_of[z] for z in member], [named[z] for z in found], [said[z] for z in found]
            kept.append(parts)
    if len(kept) < 2:
        return None
    return TopicTree(
        levels=tuple(len(named) for _, named, _ in kept),
        members=tuple(tuple(member) for member, _, _ in kept[1:]),
        shares=tuple(min(float(share), 1.0) for share in shares),
        names=tuple(tuple(named) for _, named, _ in kept),
        words=tuple(tuple(said) for _, _, said in kept),
    )


def _numbers(sizes: Sequence[int]) -> str:
    return " and ".join(map(str, sizes))


def _sums(shares: Sequence[float], member: Sequence[int]) -> list[float]:
    """Return the share of each coarse topic."""
    pairs = list(zip(shares, member, strict=True))
    return [math.fsum(s for s, of in pairs if of == z) for z in range(max(member) + 1)]


# -- the tree of a model ---------------------------------------------------------------------------


def tree_of(model: Any) -> TopicTree:
    """Return the tree of a fitted model, with the names that its topics have now.

    Parameters
    ----------
    model : fitted model, or TopicClassifier
    """
    from coview.models import topic_model
    from coview.reporting import topic_names

    tree = getattr(topic_model(model), "topic_tree_", None)
    if tree is None:
        raise ValueError(f"The model has no tree of topics. Make one: {HOW_TO}.")
    names = topic_names(model)
    if not isinstance(tree, TopicTree) or tree.levels[0] != len(names):
        raise ValueError(
            f"topic_tree_ is no tree of {plural(len(names), 'topic')}: {tree!r}. Make one: "
            f"{HOW_TO}."
        )
    return tree.renamed(len(names), names)


def at_level(model: Any, n_topics: int) -> Any:
    """Return the model with the topics of a level: see `BaseViewsModel.at_level`."""
    from coview.merging import merge_topics

    tree = tree_of(model)
    level = tree.level(n_topics)
    if level == 0:
        return copy(model)
    member = tree.members[level - 1]
    made = merge_topics(model, member)
    made.topic_names_ = list(tree.names[level])
    hidden = set(made.__dict__.pop("hidden_topics_", ()))
    shown = {z for y, z in enumerate(member) if y not in hidden}
    if len(shown) < n_topics:
        made.hidden_topics_ = np.array([z for z in range(n_topics) if z not in shown])
    return made


# -- making one ------------------------------------------------------------------------------------


def topic_tree(
    model: Any, views: Any, levels: Sequence[int] | int | None = None, *, random_state: Any = None
) -> TopicTree:
    """Make a tree of the topics of a model: find the coarser topics that they are part of.

    Parameters
    ----------
    model : fitted model, or TopicClassifier
    views : Views, ShardedViews, or as in the model's `transform`
        The documents that the model was fitted to, or others. Of many documents a sample is used.
    levels : int or sequence of int, optional
        How many topics the coarser levels have. By default about the square root of the number of
        topics, and one level between if these are far apart; fewer than 6 topics have none.
    random_state : int, Generator, RandomState or None, default=None
        By default the seed of the model.

    Returns
    -------
    TopicTree
        The model stays as it is: assign the tree to `model.topic_tree_`. A level has fewer topics
        than asked for where a coarse topic would have no fine ones.

    Examples
    --------
    >>> import coview
    >>> from coview.datasets import make_views
    >>> views = make_views(300, 9, [60, 60], random_state=0)
    >>> model = coview.LinkPLSA(9, random_state=0).fit(views)
    >>> model.topic_tree_ = coview.topic_tree(model, views)
    >>> model.topic_tree_.levels
    (9, 3)
    >>> model.at_level(3).transform(views).shape
    (300, 3)
    """
    from coview.models import fitted_model
    from coview.params import check_int

    k = fitted_model(model).doc_topic_.shape[1]
    if levels is None:
        sizes = usual_levels(k)
        if not sizes:
            raise ValueError(
                f"Coarser levels are made for {FEWEST} topics or more, and the model has {k}; "
                "levels= makes one anyway."
            )
    else:
        sizes = [levels] if isinstance(levels, int | np.integer) else list(levels)
        for size in sizes:
            check_int("levels", size, 2)
            if size >= k:
                raise ValueError(
                    f"A coarser level has fewer topics than the model: levels must be from 2 to "
                    f"{k - 1}; got {size}."
                )
        if not sizes:
            raise ValueError("levels is empty: give the numbers of topics, or None.")
    found = build_tree(model, views, sizes, random_state=random_state)
    if found is None:
        raise ValueError(
            f"The documents have no coarser level of {_numbers(sizes)} topics: there are too few, "
            "or they are all alike."
        )
    return found


def usual_levels(n_topics: int) -> list[int]:
    """Return the numbers of topics of the coarser levels, where nobody has measured them.

    >>> [usual_levels(k) for k in (5, 9, 24, 60, 400)]
    [[], [3], [5], [8, 22], [20, 89]]
    """
    return [] if n_topics < FEWEST else levels_from(round(math.sqrt(n_topics)), n_topics)


def levels_from(coarse: int, fine: int) -> list[int]:
    """Return the coarse number of topics, and one between it and the fine one if far apart.

    >>> levels_from(5, 24), levels_from(2, 24), levels_from(5, 5)
    ([5], [2, 7], [])
    """
    between = [round(math.sqrt(coarse * fine))] if fine > FAR_APART * coarse else []
    return [coarse, *between] if coarse < fine else []


def grow_tree(model: Any, views: Any, sizes: Sequence[int] | None = None) -> None:
    """Give a fitted model its `topic_tree_`, where its topics are not few.

    `sizes` are the levels that the data support; the usual ones where nobody has measured it.
    """
    tree = build_tree(model, views, usual_levels(model.n_components) if sizes is None else sizes)
    if tree is not None:
        model.topic_tree_ = tree


def build_tree(
    model: Any, views: Any, sizes: Sequence[int], *, random_state: Any = None
) -> TopicTree | None:
    """Return the tree of a model with levels of these sizes; None if none of them is a level.

    Parameters
    ----------
    model : fitted model, or TopicClassifier
    views, random_state
        As in `topic_tree`.
    sizes : sequence of int
        Numbers of topics, in any order; those that are not between 1 and the model's are left out.
    """
    from coview.models import fitted_model
    from coview.params import seed_of
    from coview.reporting import topic_names
    from coview.runners.native import one_native_thread

    inner = fitted_model(model)
    seed = inner.random_state_used_ if random_state is None else seed_of(random_state)
    sample, fine = _documents(inner, views, seed)
    most = min(fine.shape[1], len(fine))
    wanted = sorted({int(n) for n in sizes if 1 < n < most}, reverse=True)
    if not wanted:
        return None
    coarse = [_coarse_mixtures(inner, sample, n, seed) for n in wanted]
    with one_native_thread("blas"):
        members = nested_members(fine, coarse)
    shares = inner.doc_topic_.mean(axis=0, dtype=np.float64).tolist()
    names: list[list[str | None]] = [topic_names(model)]
    names += [[None] * (max(member) + 1) for member in members]
    tree = _numbered(shares, members, names, [[""] * len(named) for named in names])
    return None if tree is None else _with_words(inner, tree)


def _documents(model: Any, views: Any, seed: int) -> tuple[Any, np.ndarray]:
    """Return documents with counts, a sample of many, and their mixtures under the fine topics.

    Those of training documents are known, whether they are in memory or on disk; others are folded
    in.
    """
    from coview.held_out import sample_rows
    from coview.shards.sharded import ShardedViews
    from coview.views.checks import DataWarning

    rng = np.random.default_rng(seed)
    given = views if isinstance(views, ShardedViews) else model.as_views(views)
    take = given.take if isinstance(given, ShardedViews) else given.__getitem__
    if given.n_docs == len(model.doc_topic_):
        known = np.setdiff1d(np.arange(given.n_docs), model.empty_rows_)
        rows = known[sample_rows(len(known), MOST_DOCS, rng)]
        sample = model.as_views(take(rows))
        if _is_training(model, given, sample, rows):
            return sample, np.asarray(model.doc_topic_[rows])
    sample = model.as_views(take(sample_rows(given.n_docs, MOST_DOCS, rng)))
    with warnings.catch_warnings():  # what the tree does not rest on need not be told
        warnings.simplefilter("ignore", DataWarning)
        found = model.fold_in(sample)
    known = np.flatnonzero(~found.empty)
    return sample[known], found.doc_topic[known]


def _is_training(model: Any, views: Any, sample: Any, rows: np.ndarray) -> bool:
    """Return whether views are the training documents; of those on disk, the sample is judged."""
    from coview.retrieval.gallery import OtherDocuments, check_training_views
    from coview.views.container import Views

    if isinstance(views, Views):
        try:
            check_training_views(model, views)
        except OtherDocuments:
            return False
        return True
    ids, known = sample.ids, model.doc_ids_
    if ids is not None and known is not None and not np.array_equal(ids, known[rows]):
        return False
    columns = [model.view_names_.index(name) for name in sample.names]
    return np.array_equal(sample.present, model.present_[np.ix_(rows, columns)])


def _coarse_mixtures(model: Any, views: Any, n_topics: int, seed: int) -> np.ndarray:
    """Return the mixtures of documents in a fit with so many topics of its own.

    How far views are to be trusted is what the model has learned, whatever its class.
    """
    from sklearn.exceptions import ConvergenceWarning

    from coview.models.link_plsa import LinkPLSA
    from coview.views.checks import DataWarning

    coarse = LinkPLSA(
        n_topics,
        view_weights=_trust(model, views.names),
        ensemble=0.0,  # its view holds topics at their start, where they stay anyway
        scaling=model.scaling,
        max_iter=MOST_ITER,
        dtype=model.dtype,
        random_state=seed,
        n_jobs=model.n_jobs,
    )
    with warnings.catch_warnings():  # those of the data were given when the model was fitted
        warnings.simplefilter("ignore", DataWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        return coarse.fit(views).doc_topic_


def _trust(model: Any, names: Sequence[str]) -> Any:
    """Return `view_weights` of the same trust in some views of a model, learned or given."""
    from coview.ensemble.reliability import ViewReliability

    learned = getattr(model, "view_reliability_", None)
    if learned is None:
        weights = {name: model.view_weights_[name] for name in names}
        return weights if any(weights.values()) else "balanced"
    known = {name: learned[name] for name in names}
    matrix = np.diag(np.fromiter(known.values(), float))
    return ViewReliability(tuple(names), matrix, known, len(model.doc_topic_))


def nested_members(fine: np.ndarray, coarse: Sequence[np.ndarray]) -> list[list[int]]:
    """Return for each coarser level the topic that each fine topic is part of, by (1).

    Parameters
    ----------
    fine : ndarray of shape (documents, topics)
    coarse : sequence of ndarray of shape (documents, topics of the level)
        From fine to coarse.

    Returns
    -------
    list of list of int
        Topics of a level without any fine ones are left out of the numbers.

    Examples
    --------
    >>> fine = np.eye(4)[[0, 0, 1, 2, 3]]
    >>> nested_members(fine, [np.eye(3)[[0, 0, 0, 2, 2]]])
    [[0, 0, 1, 1]]
    """
    fine = fine.astype(np.float64)
    above, found = np.zeros(fine.shape[1], dtype=np.int64), []
    for mixtures in reversed(coarse):
        mass = fine.T @ mixtures.astype(np.float64)  # (1)
        n_above = int(above.max()) + 1
        of_above = np.stack([mass[above == z].sum(axis=0) for z in range(n_above)])
        # a topic is within the one above with which it shares most, and takes fine topics of it
        allowed = of_above.argmax(axis=0) == above[:, None]
        best = np.where(allowed, mass, -1.0).argmax(axis=1)
        # where no topic is within the one above, that one is a topic of this level as well
        best = np.where(allowed.any(axis=1), best, mass.shape[1] + above)
        above = np.unique(best, return_inverse=True)[1]
        found.append(above.tolist())
    return found[::-1]


def _with_words(model: Any, tree: TopicTree) -> TopicTree:
    """Return the tree with the first words of topics, of the first view whose terms have names."""
    from coview.reporting import top_terms

    named = [view for view in model.view_names_ if model.feature_names_[view] is not None]
    if not named:
        return tree
    holder = copy(model)
    holder.topic_tree_ = tree
    words = [
        tuple(", ".join(terms) for terms in top_terms(at_level(holder, n), N_WORDS)[named[0]])
        for n in tree.levels
    ]
    return replace(tree, words=tuple(words))
