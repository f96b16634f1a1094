"""The translation table and the evidence of a search by explicit loops; nothing from coview."""

import math


def damp(row):
    return [math.log(1 + n) for n in row]


def shares(row):
    values = damp(row)
    total = sum(values)
    return [x / total if total else 0.0 for x in values]


def table(asked, answered, iterations, null):
    """EM for t(w'|w) with all pairs of terms that occur together as candidates, dense."""
    f = [[(1 - null) * x for x in shares(row)] for row in asked]
    n = [damp(row) for row in answered]
    totals = [sum(column) for column in zip(*n, strict=True)]
    background = [null * x / sum(totals) for x in totals]
    width = len(answered[0])
    t = []
    for w in range(len(asked[0])):
        together = [
            sum(1 for d in range(len(asked)) if asked[d][w] and answered[d][v])
            for v in range(width)
        ]
        t.append([c / sum(together) if sum(together) else 0.0 for c in together])
    for _ in range(iterations):
        new = [[0.0] * width for _ in t]
        for d in range(len(asked)):
            for v in range(width):
                if not n[d][v]:
                    continue
                p = sum(f[d][w] * t[w][v] for w in range(len(t))) + background[v]
                for w in range(len(t)):
                    new[w][v] += n[d][v] * f[d][w] * t[w][v] / p
        t = [[x / sum(row) if sum(row) else 0.0 for x in row] for row in new]
    return t


def called(query, document, p, stands_for):
    """sqrt(n) sum_w f(w|q) log(1 + sum_w' t(w|w') f(w'|d) / p(w))."""
    own, other = shares(query), shares(document)
    n = sum(1 for x in query if x)
    total = 0.0
    for w, weight in enumerate(own):
        if weight:
            x = sum(stands_for[v][w] * other[v] for v in range(len(other)))
            total += weight * math.log(1 + x / p[w])
    return math.sqrt(n) * total


def about_topics(document, p_w_z, p_w):
    f = shares(document)
    e = [
        sum(f[w] * math.log((row[w] + p_w[w]) / (2 * p_w[w])) for w in range(len(f)) if f[w])
        for row in p_w_z
    ]
    mean = sum(e) / len(e)
    e = [x - mean for x in e]
    length = math.sqrt(sum(x * x for x in e))
    return [x / length for x in e] if length else e


def softmax(scores):
    top = max(scores)
    odds = [math.exp(s - top) for s in scores]
    return [x / sum(odds) for x in odds]
