"""SQUAREM around any EM step, as naive loops over dense rows (Varadhan & Roland, 2008).

A point is a list of arrays whose rows are distributions: mixtures (documents, topics), topics
(topics, terms). `step(point)` returns the objective of a point and where EM leads from it.
"""

import math


def step_length(x0, x1, x2):
    """-|r| / |v| over all entries of all arrays, at most -1."""
    rr = vv = 0.0
    for a0, a1, a2 in zip(x0, x1, x2, strict=True):
        for before, middle, after in zip(a0.flat, a1.flat, a2.flat, strict=True):
            r = middle - before
            v = (after - middle) - r
            rr += r * r
            vv += v * v
    return min(-1.0, -math.sqrt(rr) / math.sqrt(vv)) if vv > 0 else -1.0


def ahead(x0, x1, x2, alpha, floor):
    """x0 - 2 alpha r + alpha^2 v, row by row at least floor x2, and normalized."""
    point = []
    for a0, a1, a2 in zip(x0, x1, x2, strict=True):
        array = a2.copy()
        for i in range(len(array)):
            r, v = a1[i] - a0[i], a2[i] - 2 * a1[i] + a0[i]
            row = a0[i] - 2 * alpha * r + alpha**2 * v
            for k in range(len(row)):
                row[k] = max(row[k], floor * a2[i][k]) if a2[i][k] > 0 else 0.0
            if (r != 0).any() or (v != 0).any():
                array[i] = row / row.sum()
        point.append(array)
    return point


def squarem(x0, step, n_passes, floor):
    """(objectives, points): of the start, then after each pass; a lost pass repeats the last."""
    known = []
    while len(known) <= n_passes:
        objective, x1 = step(x0)
        known.append((objective, x0))
        objective, x2 = step(x1)
        known.append((objective, x1))
        alpha = step_length(x0, x1, x2)
        if alpha == -1.0 or len(known) == n_passes:  # nothing ahead, or no pass to judge it
            x0 = x2
            continue
        guess = ahead(x0, x1, x2, alpha, floor)
        objective, after = step(guess)
        if objective >= known[-1][0]:
            known.append((objective, guess))
            x0 = after
        else:
            known.append(known[-1])
            x0 = x2
    objectives, points = zip(*known[: n_passes + 1], strict=True)
    return objectives, points
