"""Search by explicit loops over pairs, one formula for each kind; nothing from coview."""

import math


def score(kind, query, answer, query_center=None, center=None):
    if kind == "hellinger":
        return sum(math.sqrt(a) * math.sqrt(b) for a, b in zip(query, answer, strict=True))
    if kind == "jensen-shannon":
        return 1 - divergence(query, answer)
    if kind == "correlation":
        query = [a - c for a, c in zip(query, query_center, strict=True)]
        answer = [b - c for b, c in zip(answer, center, strict=True)]
    return cosine(query, answer)


def cosine(query, answer):
    product = sum(a * b for a, b in zip(query, answer, strict=True))
    lengths = math.sqrt(sum(a * a for a in query)) * math.sqrt(sum(b * b for b in answer))
    return product / lengths if lengths else 0.0


def divergence(query, answer):
    """Jensen-Shannon, in bits, of rows brought to sum one."""
    total = 0.0
    for a, b in zip(query, answer, strict=True):
        a, b = a / sum(query), b / sum(answer)
        mean = (a + b) / 2
        total += sum(x * math.log2(x / mean) / 2 for x in (a, b) if x > 0)
    return total


def best(kind, query, gallery, top, rows=None, **centers):
    """Row numbers and scores, larger scores first and of equal ones the earlier row."""
    rows = range(len(gallery)) if rows is None else rows
    scored = [(score(kind, query, gallery[i], **centers), i) for i in rows]
    scored.sort(key=lambda pair: (-pair[0], pair[1]))
    return [i for _, i in scored[:top]], [s for s, _ in scored[:top]]
