"""Kernels of `graphs.descent`: lists of near points, begun by shared features, improved in rounds.

Points come as `sparse` (the arrays of a CSR matrix) and `dense`, an array (points, features) that
has no column if they are sparse; all in single precision. A list (points, size) has the numbers of
the nearest points found so far, nearest first and of equal distances the smaller number, with their
squared distances; -1 and infinity where there is none; and whether each is new since the last
round. Every point writes to its own list alone and reads those of the round before: so neither
the number of threads nor the order of the work changes a bit.
"""

import numpy as np
from numba import njit

from coview.kernels.prefetch import prefetch_row

_OPTIONS = {"nogil": True, "cache": True, "error_model": "numpy"}
_SUMS = {**_OPTIONS, "fastmath": {"reassoc", "contract"}}
_u = np.uint64
_AHEAD = _u(4)  # rows that are fetched before they are needed
_LINE = _u(16)  # numbers of a cache line


@njit(**_OPTIONS)
def scrambled(number):
    """Return 64 random bits that belong to a number (splitmix64)."""
    number = _u(number) + _u(0x9E3779B97F4A7C15)
    number = (number ^ (number >> _u(30))) * _u(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> _u(27))) * _u(0x94D049BB133111EB)
    return number ^ (number >> _u(31))


# -- rows -----------------------------------------------------------------------------------------


@njit(**_OPTIONS)
def _add(sparse, dense, i, factor, direction):
    """Add a multiple of row i to a direction (features,)."""
    indptr, indices, data = sparse
    for d in range(dense.shape[1]):
        direction[d] += factor * dense[i, d]
    if dense.shape[1] == 0:
        for entry in range(indptr[i], indptr[i + 1]):
            direction[indices[entry]] += factor * data[entry]


@njit(**_OPTIONS)
def _clear(sparse, dense, i, direction):
    """Set a direction to zero where row i is not."""
    indptr, indices, _ = sparse
    if dense.shape[1]:
        direction[:] = 0
    else:
        for entry in range(indptr[i], indptr[i + 1]):
            direction[indices[entry]] = 0


@njit(**_SUMS)
def _products(sparse, dense, rows, direction, out):
    """Fill out with the inner products of some rows with a direction."""
    indptr, indices, data = sparse
    n_rows = _u(rows.shape[0])
    if dense.shape[1]:
        for r in range(n_rows):
            if r + _AHEAD < n_rows:
                prefetch_row(dense, _u(rows[r + _AHEAD]))
            row, total = dense[_u(rows[r])], np.float32(0)
            for d in range(_u(row.shape[0])):
                total += row[d] * direction[d]
            out[r] = total
        return
    starts, terms, values = indptr.reshape(-1, 1), indices.reshape(-1, 1), data.reshape(-1, 1)
    for r in range(n_rows):
        # the rows are all over the memory, and too short for the processor to see what comes
        if r + _u(2) * _AHEAD < n_rows:
            prefetch_row(starts, _u(rows[r + _u(2) * _AHEAD]))
        if r + _AHEAD < n_rows:
            ahead = _u(rows[r + _AHEAD])
            entry, stop = _u(indptr[ahead]), _u(indptr[ahead + _u(1)])
            while entry < stop:
                prefetch_row(terms, entry)
                prefetch_row(values, entry)
                entry += _LINE
        i, total = _u(rows[r]), np.float32(0)
        for entry in range(_u(indptr[i]), _u(indptr[i + _u(1)])):
            total += data[entry] * direction[_u(indices[entry])]
        out[r] = total


# -- lists ----------------------------------------------------------------------------------------


@njit(**_OPTIONS)
def _insert(others, distances, new, other, distance):
    """Put a point that is not in it into a list, if it is near enough; return whether it is."""
    last = others.shape[0] - 1
    if not _nearer(distance, other, distances[last], others[last]):
        return False
    while last > 0 and _nearer(distance, other, distances[last - 1], others[last - 1]):
        others[last], distances[last] = others[last - 1], distances[last - 1]
        new[last] = new[last - 1]
        last -= 1
    others[last], distances[last], new[last] = other, distance, True
    return True


@njit(**_OPTIONS)
def _nearer(distance, other, than, than_other):
    return distance < than or (distance == than and other < than_other)


@njit(**_OPTIONS)
def _has(others, other):
    for place in range(others.shape[0]):  # noqa: SIM110 - numba compiles no generators
        if others[place] == other:
            return True
    return False


@njit(**_OPTIONS)
def _compare(sparse, dense, lengths, i, others, direction, products, lists):
    """Offer point i others, which are not yet in its list; return how many are taken.

    `direction` is zero, before and after.
    """
    near, distances, new = lists
    _add(sparse, dense, i, np.float32(1), direction)
    _products(sparse, dense, others, direction, products)
    _clear(sparse, dense, i, direction)
    taken, last = 0, near.shape[1] - 1
    for r in range(others.shape[0]):
        j = others[r]
        distance = lengths[i] + lengths[j] - np.float32(2) * products[r]
        if distance <= distances[i, last]:
            distance = max(distance, np.float32(0))
            taken += _insert(near[i], distances[i], new[i], j, distance)
    return taken


# -- beginnings -----------------------------------------------------------------------------------


@njit(**_OPTIONS)
def join_by_features(sparse, dense, lengths, by_feature, budget, seed, start, stop, lists):
    """Begin the lists of points start to stop with those that share their rarest features.

    by_feature are the arrays of the points as a CSC matrix. Of every point `budget` entries are
    looked at, those of its rarest features first, in a window that changes from point to point
    where a feature has more. The points with the largest sums of products are compared.
    """
    indptr, indices, data = sparse
    colptr, places, values = by_feature
    n_points, size = lists[0].shape
    sums = np.zeros(n_points, np.float32)
    far = _u(4) * _AHEAD
    sum_rows, length_rows = sums.reshape(-1, 1), lengths.reshape(-1, 1)
    found = np.empty(budget, np.int32)
    direction = np.zeros(colptr.shape[0] - 1, np.float32)
    best, others, products = np.empty(size), np.empty(size, np.int32), np.empty(size, np.float32)
    for i in range(start, stop):
        own = indices[indptr[i] : indptr[i + 1]]
        counts = colptr[own + 1] - colptr[own]
        n_found = looked_at = 0
        for entry in np.argsort(counts, kind="mergesort"):
            count = counts[entry]
            some = min(count, budget - looked_at)
            if some <= 0:
                break
            first = colptr[own[entry]]
            if some < count:
                first += np.int64(scrambled(_u(seed) + _u(i)) % _u(count - some + 1))
            looked_at += some
            weight = data[indptr[i] + entry]
            for place in range(_u(first), _u(first + some)):
                if place + far < _u(first + some):
                    prefetch_row(sum_rows, _u(places[place + far]))
                j = _u(places[place])
                if sums[j] == 0:
                    found[n_found] = j
                    n_found += 1
                sums[j] += weight * values[place]
        best[:], n_best = -np.inf, 0
        for r in range(n_found):
            if _u(r) + far < _u(n_found):
                prefetch_row(sum_rows, _u(found[_u(r) + far]))
                prefetch_row(length_rows, _u(found[_u(r) + far]))
            j = found[r]
            score = np.float32(2) * sums[j] - lengths[j]
            sums[j] = 0
            if j == i or score <= best[size - 1] or _has(others[:n_best], j):
                continue
            n_best = min(n_best + 1, size)
            place = n_best - 1
            while place > 0 and score > best[place - 1]:
                best[place], others[place] = best[place - 1], others[place - 1]
                place -= 1
            best[place], others[place] = score, j
        _compare(sparse, dense, lengths, i, others[:n_best], direction, products, lists)


@njit(**_OPTIONS)
def grow_tree(sparse, dense, lengths, n_features, leaf_size, seed, order, ends):
    """Split all points in two by a plane between two of them, and so on; return the leaves' number.

    `order` gets the points leaf by leaf, `ends` where each leaf ends. A plane that cuts off next to
    nothing, as between copies of a point, is replaced by a cut in the middle.
    """
    for i in range(order.shape[0]):
        order[i] = i
    direction = np.zeros(n_features, np.float32)
    margins, right = np.empty(order.shape[0], np.float32), np.empty_like(order)
    parts, n_leaves = [(0, order.shape[0])], 0
    while len(parts):
        start, stop = parts.pop()
        here = order[start:stop]
        size = stop - start
        if size <= leaf_size:
            ends[n_leaves] = stop
            n_leaves += 1
            continue
        bits = scrambled(scrambled(_u(seed) ^ _u(start)) + _u(stop))
        a, b = np.int64(bits % _u(size)), np.int64(scrambled(bits) % _u(size - 1))
        a, b = here[a], here[b + (b >= a)]
        _add(sparse, dense, a, np.float32(1), direction)
        _add(sparse, dense, b, np.float32(-1), direction)
        middle = np.float32(0.5) * (lengths[a] - lengths[b])
        _products(sparse, dense, here, direction, margins)
        _clear(sparse, dense, a, direction)
        _clear(sparse, dense, b, direction)
        n_left = n_right = 0
        for r in range(size):
            margin = margins[r] - middle
            chance = scrambled(bits + _u(here[r])) & _u(1)
            if margin > 0 or (margin == 0 and chance == _u(1)):
                right[n_right] = here[r]
                n_right += 1
            else:
                here[n_left] = here[r]
                n_left += 1
        for i in range(n_right):
            here[n_left + i] = right[i]
        cut = size // 2 if 20 * min(n_left, n_right) < size else n_left
        parts.append((start + cut, stop))
        parts.append((start, start + cut))
    return n_leaves


@njit(**_OPTIONS)
def _not_listed(near, i, points, others):
    """Fill others with the points that are neither i nor in its list near; return how many."""
    n_others = 0
    for j in points:
        if j != i and not _has(near, j):
            others[n_others] = j
            n_others += 1
    return n_others


@njit(**_OPTIONS)
def join_leaves(sparse, dense, lengths, n_features, order, ends, first, last, lists):
    """Compare all points of a leaf of a tree with each other, for the leaves first to last."""
    near = lists[0]
    direction = np.zeros(n_features, np.float32)
    widest = 0
    for leaf in range(first, last):
        widest = max(widest, ends[leaf] - (ends[leaf - 1] if leaf else 0))
    others, products = np.empty(widest, np.int32), np.empty(widest, np.float32)
    for leaf in range(first, last):
        here = order[ends[leaf - 1] if leaf else 0 : ends[leaf]]
        for i in here:
            n_others = _not_listed(near[i], i, here, others)
            _compare(sparse, dense, lengths, i, others[:n_others], direction, products, lists)


@njit(**_OPTIONS)
def fill_up(sparse, dense, lengths, n_features, shortest, start, stop, lists):
    """Offer the shortest points to lists with room: they are nearest of all that share nothing."""
    near = lists[0]
    direction = np.zeros(n_features, np.float32)
    others, products = np.empty_like(shortest), np.empty(shortest.shape[0], np.float32)
    for i in range(start, stop):
        if near[i, near.shape[1] - 1] >= 0:
            continue
        n_others = _not_listed(near[i], i, shortest, others)
        _compare(sparse, dense, lengths, i, others[:n_others], direction, products, lists)


# -- rounds ---------------------------------------------------------------------------------------


@njit(**_OPTIONS)
def turn_round(near, new, seed, back, back_new):
    """Fill back (points, some) with points in whose lists a point is: drawn, if there are more."""
    n_points, size = near.shape
    most = back.shape[1]
    counts = np.zeros(n_points, np.int64)
    back[:] = -1
    for i in range(n_points):
        for place in range(size):
            j = near[i, place]
            if j < 0:
                continue
            at = counts[j]
            counts[j] += 1
            if at >= most:
                at = np.int64(scrambled(_u(seed) + _u(i * size + place)) % _u(counts[j]))
            if at < most:
                back[j, at], back_new[j, at] = i, new[i, place]


@njit(**_OPTIONS)
def _gather(joined, joined_new, j, fresh, i, seen, found, n_found):
    """Add the points of list j that have not been seen, if the way to them has not been gone."""
    for place in range(joined.shape[1]):
        other = joined[j, place]
        if n_found == found.shape[0]:
            break
        if other >= 0 and (fresh or joined_new[j, place]) and seen[other] != i:
            found[n_found], seen[other] = other, i
            n_found += 1
    return n_found


@njit(**_OPTIONS)
def improve(sparse, dense, lengths, n_features, before, most, start, stop, lists):
    """Compare points start to stop with the neighbors of their neighbors; count what changes.

    before are the lists of the last round and their reverse (near, new, back, back_new). A point is
    compared with `most` others, those by way of its nearest first.
    """
    near, new, back, back_new = before
    size = near.shape[1]
    direction = np.zeros(n_features, np.float32)
    seen = np.full(near.shape[0], -1, np.int32)
    found, products = np.empty(most, np.int32), np.empty(most, np.float32)
    changes = 0
    for i in range(start, stop):
        lists[2][i] = False
        seen[i] = i
        for place in range(size):
            if near[i, place] >= 0:
                seen[near[i, place]] = i
        n_found = _gather(back, back_new, i, False, i, seen, found, 0)
        for step in range(size + back.shape[1]):
            at = step - size
            j = near[i, step] if step < size else back[i, at]
            if j >= 0:
                fresh = new[i, step] if step < size else back_new[i, at]
                n_found = _gather(near, new, j, fresh, i, seen, found, n_found)
                n_found = _gather(back, back_new, j, fresh, i, seen, found, n_found)
        if n_found:
            others = found[:n_found]
            changes += _compare(sparse, dense, lengths, i, others, direction, products, lists)
    return changes
