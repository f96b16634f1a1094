"""Clustering and retrieval scores by explicit loops and brute force."""

import itertools
import math
import statistics


def contingency(true, pred):
    """Counts of each (class, cluster) pair as a list of rows, in sorted order of the names."""
    true, pred = list(true), list(pred)
    classes, clusters = sorted(set(true)), sorted(set(pred))
    table = [[0] * len(clusters) for _ in classes]
    for t, p in zip(true, pred, strict=True):
        table[classes.index(t)][clusters.index(p)] += 1
    return table


def accuracy(true, pred):
    """001 4.3, 000 Eq. 18: the best one-to-one map of clusters to classes, by all permutations.

    AC = max_map sum_i [s_i = map(r_i)] / N. More clusters than classes (or fewer): the table is
    padded with zeros, so a cluster may be left without a class. At most 7 of either.
    """
    table = contingency(true, pred)
    n = max(len(table), len(table[0]))
    if n > 7:
        raise ValueError(f"brute force over permutations is for at most 7 clusters, got {n}")
    square = [[0] * n for _ in range(n)]
    for i, row in enumerate(table):
        for j, count in enumerate(row):
            square[i][j] = count
    best = max(sum(square[i][m[i]] for i in range(n)) for m in itertools.permutations(range(n)))
    return best / len(list(true))


def entropy(sizes):
    """-sum_c p(c) log p(c) over clusters with members."""
    total = sum(sizes)
    return -sum(n / total * math.log(n / total) for n in sizes if n > 0)


def nmi(true, pred, normalizer="max"):
    """000 Eq. 19-20, 001 4.3 (max) and 004 Eq. 20 (mean): I(C, C') / normalizer(H(C), H(C')).

    I = sum_cc' p(c,c') log(p(c,c') / (p(c) p(c'))). Both entropies 0: 1.
    """
    table = contingency(true, pred)
    n = sum(sum(row) for row in table)
    row_sizes = [sum(row) for row in table]
    column_sizes = [sum(row[j] for row in table) for j in range(len(table[0]))]
    information = 0.0
    for i, row in enumerate(table):
        for j, count in enumerate(row):
            if count > 0:
                information += count / n * math.log(count * n / (row_sizes[i] * column_sizes[j]))
    entropies = entropy(row_sizes), entropy(column_sizes)
    if max(entropies) == 0:
        return 1.0
    return information / {"max": max(entropies), "mean": sum(entropies) / 2}[normalizer]


def pairwise_f(true, pred):
    """004 Eq. 21-23 over unordered pairs; 0 if no pair is together in both.

    Precision = correct / pairs in one cluster, Recall = correct / pairs in one class,
    PF = 2 Precision Recall / (Precision + Recall).
    """
    true, pred = list(true), list(pred)
    together = same_class = correct = 0
    for i in range(len(true)):
        for j in range(i + 1, len(true)):
            together += pred[i] == pred[j]
            same_class += true[i] == true[j]
            correct += pred[i] == pred[j] and true[i] == true[j]
    if correct == 0:
        return 0.0
    precision, recall = correct / together, correct / same_class
    return 2 * precision * recall / (precision + recall)


def purity(true, pred):
    """002's micro-averaged precision: sum over clusters of the size of its largest class, / N."""
    table = contingency(true, pred)
    n = sum(sum(row) for row in table)
    return sum(max(row[j] for row in table) for j in range(len(table[0]))) / n


def ranking(scores):
    """Items by falling score, ties by index."""
    scores = list(scores)
    return sorted(range(len(scores)), key=lambda i: (-scores[i], i))


def average_precision(scores, relevant, reading="first", top=10):
    """003: "the mean precision value for the top 10 relevant retrievals", one query.

    reading
        "first": mean of the precisions at the ranks of the first `top` relevant items, divided by
        the number of those found (recommended); "within": the same over the relevant items among
        the first `top` ranks; "precision": relevant items among the first `top` ranks / `top`
        (/ the number of items if there are fewer); "full": over all relevant items.
    A query for which no item counts scores 0.
    """
    order = ranking(scores)
    if reading == "precision":
        head = order[:top]
        return sum(bool(relevant[i]) for i in head) / len(head)
    precisions, found = [], 0
    for rank, item in enumerate(order, start=1):
        if reading == "within" and rank > top:
            break
        if relevant[item]:
            found += 1
            precisions.append(found / rank)
        if reading == "first" and found == top:
            break
    return sum(precisions) / len(precisions) if precisions else 0.0


def mean_average_precision(similarity, query_labels, item_labels, reading="first", top=10):
    """Mean over the queries (rows of similarity); an item of the query's class is relevant."""
    total = 0.0
    for scores, label in zip(similarity, query_labels, strict=True):
        relevant = [item == label for item in item_labels]
        total += average_precision(scores, relevant, reading, top)
    return total / len(list(query_labels))


def median_rank(similarity, partners=None):
    """Median over queries of the rank (from 1) of its partner, ties by index.

    partners[q] is the item that belongs to query q; q itself when None.
    """
    ranks = []
    for q, scores in enumerate(similarity):
        partner = q if partners is None else partners[q]
        ranks.append(ranking(scores).index(partner) + 1)
    return statistics.median(ranks)
