// Search as coview.search(model, query, in_view=..., views=views) does: docs/search.md.
//
// score = (1 - W |q|) t + W q.g: t is the cosine of topics (roots of mixtures and the evidence of
// terms side by side), q.g the words that query and answer share.

import { cached, countsOf, hasMixture, mixture, mixtures, searchedName, topics } from "./decode.js";
import { foldIn, readText } from "./foldin.js";

const NOTHING = 1e-9; // evidence, in nats a term

/**
 * Find the documents that are most like a query.
 *
 * `askView` is the number of the view that asks (null: all views of a row), `query` one of
 * {text}, {row} and {counts: {terms, values}}; `answerView` the view that answers (null: all);
 * `filter(row)` leaves documents out, `top` is the number of answers. Returns {hits: [{row, score,
 * why}], mixture, tokens, unknown, reason}: without hits `reason` says why.
 */
export function search(data, { askView, query, answerView = null, filter = null, top = 10 }) {
  const asked = readQuery(data, askView, query);
  const about = { tokens: asked.tokens ?? [], unknown: asked.unknown ?? [] };
  if (asked.reason) return { hits: [], mixture: null, reason: asked.reason, ...about };
  const gallery = galleryOf(data, answerView);
  const prepared = prepare(data, asked, gallery);
  const scores = scoreAll(data, prepared, gallery);
  const excluded = query.row ?? -1;
  const wanted = (row) => row !== excluded && (!filter || filter(row));
  const rows = best(scores, gallery.rows, wanted, top);
  const hits = rows.map((row) => ({ row, score: scores[row], why: why(data, prepared, gallery, row) }));
  return { hits, mixture: asked.mixture, ...about };
}

/** Return the score of every document (NaN: it cannot be an answer), for tests and plots. */
export function allScores(data, { askView, query, answerView = null }) {
  const asked = readQuery(data, askView, query);
  if (asked.reason) return null;
  const gallery = galleryOf(data, answerView);
  return scoreAll(data, prepare(data, asked, gallery), gallery);
}

// -- the query ------------------------------------------------------------------------------------

function readQuery(data, askView, query) {
  if (query.row !== undefined) return readRow(data, askView, query.row);
  const view = data.meta.views[askView];
  if (query.text !== undefined && !view.recipe) {
    return { reason: `View ${view.name} cannot be asked with a text: ${view.no_recipe}.` };
  }
  const read = query.text !== undefined ? readText(data, askView, query.text) : { ...query.counts };
  const known = seen(data, askView, read);
  if (!known) {
    return { ...read, reason: `The model knows nothing of this in view ${view.name}.` };
  }
  return { ...read, counts: new Map([[askView, read]]), mixture: foldIn(data, askView, read) };
}

function readRow(data, askView, row) {
  const views = askView === null ? data.meta.views.map((_, v) => v) : [askView];
  const counts = new Map();
  for (const v of views) {
    const found = countsOf(data, v, row);
    if (found && hasMixture(data, v, row)) counts.set(v, found);
  }
  if (!hasMixture(data, askView, row) || !counts.size) {
    return { reason: "This document has nothing to search with in this view." };
  }
  return { counts, mixture: mixture(data, askView, row, searchedName(data, askView)) };
}

function seen(data, view, { terms }) {
  const share = data.arrays[`term_share.${view}`];
  return terms.some((w) => share[w] > 0);
}

// -- what the terms say about topics ----------------------------------------------------------------

/** Return log((p(w|z) + p(w)) / 2 p(w)), term after term: Float32Array(n_terms * n_topics). */
function gains(data, view) {
  return cached(data, `gains ${view}`, () => {
    const k = data.meta.n_topics;
    const n = data.meta.views[view].n_terms;
    const p = topics(data, view);
    const share = data.arrays[`term_share.${view}`];
    const out = new Float32Array(n * k);
    for (let z = 0; z < k; z++) {
      let sum = 0;
      for (let w = 0; w < n; w++) sum += p[z * n + w];
      for (let w = 0; w < n; w++) {
        const own = sum > 0 ? p[z * n + w] / sum : 0;
        if (share[w] > 0) out[w * k + z] = Math.log((own + share[w]) / (2 * share[w]));
      }
    }
    return out;
  });
}

function addEvidence(gain, terms, values, begin, end, out, at, k) {
  let size = 0;
  for (let i = begin; i < end; i++) size += values[i];
  if (!(size > 0)) return;
  for (let i = begin; i < end; i++) {
    const share = values[i] / size;
    const from = terms[i] * k;
    for (let z = 0; z < k; z++) out[at + z] += share * gain[from + z];
  }
}

/** Center a part of an array and bring it to length 1; return that length, 0 or 1. */
function centerAndScale(out, at, k) {
  let mean = 0;
  for (let z = 0; z < k; z++) mean += out[at + z];
  mean /= k;
  let squares = 0;
  for (let z = 0; z < k; z++) {
    const centered = out[at + z] - mean;
    out[at + z] = Math.abs(centered) < NOTHING ? 0 : centered;
    squares += out[at + z] * out[at + z];
  }
  if (!(squares > 0)) return 0;
  const length = Math.sqrt(squares);
  for (let z = 0; z < k; z++) out[at + z] /= length;
  return 1;
}

// -- the documents searched -------------------------------------------------------------------------

/** Return what the documents of a view (null: all views) are compared by; made once. */
function galleryOf(data, answerView) {
  return cached(data, `gallery ${answerView}`, () => {
    const views = answerView === null ? data.meta.search.answer : [answerView];
    const there = views.filter((v) => data.arrays[`counts.${v}.indptr`]);
    const rows = knownRows(data, there);
    const { vectors, lengths } = vectorsOf(data, answerView, there);
    return { views: there, rows, vectors, lengths, words: there.map((v) => wordIndex(data, v)) };
  });
}

function knownRows(data, views) {
  const found = [];
  for (let row = 0; row < data.meta.n_docs; row++) {
    if (views.some((v) => hasKnownTerm(data, v, row))) found.push(row);
  }
  return Uint32Array.from(found);
}

function hasKnownTerm(data, view, row) {
  const indptr = data.arrays[`counts.${view}.indptr`];
  const terms = data.arrays[`counts.${view}.indices`];
  const share = data.arrays[`term_share.${view}`];
  for (let i = indptr[row]; i < indptr[row + 1]; i++) if (share[terms[i]] > 0) return true;
  return false;
}

/** Return roots of mixtures and evidence side by side, with the length of each row. */
function vectorsOf(data, answerView, views) {
  const { n_docs: n, n_topics: k } = data.meta;
  const vectors = new Float32Array(n * 2 * k);
  const lengths = new Float32Array(n);
  const theta = mixtures(data, answerView, searchedName(data, answerView));
  const evidence = new Float64Array(k);
  for (let row = 0; row < n; row++) {
    const at = row * 2 * k;
    let squares = 0;
    for (let z = 0; z < k; z++) {
      const share = theta[row * k + z];
      vectors[at + z] = Math.sqrt(share);
      squares += share;
    }
    evidence.fill(0);
    for (const v of views) {
      const indptr = data.arrays[`counts.${v}.indptr`];
      const terms = data.arrays[`counts.${v}.indices`];
      const values = data.arrays[`counts.${v}.values`];
      addEvidence(gains(data, v), terms, values, indptr[row], indptr[row + 1], evidence, 0, k);
    }
    squares += centerAndScale(evidence, 0, k);
    vectors.set(evidence, at + k);
    lengths[row] = Math.sqrt(squares);
  }
  return { vectors, lengths };
}

// -- words ------------------------------------------------------------------------------------------

function rarity(data, view, w) {
  const share = data.arrays[`term_share.${view}`][w];
  return share > 0 ? -Math.log(share) : 0;
}

/** Return the weighted terms of one document as a Map, of length 1. */
function weighted(data, view, { terms, values }) {
  let squares = 0;
  const weights = terms.map((w, i) => {
    const weight = Math.log1p(values[i]) * rarity(data, view, w);
    squares += weight * weight;
    return weight;
  });
  const length = squares > 0 ? Math.sqrt(squares) : 1;
  return new Map(terms.map((w, i) => [w, weights[i] / length]));
}

/** Return the documents of each term of a view with their weights: {starts, rows, weights}. */
function wordIndex(data, view) {
  return cached(data, `words ${view}`, () => {
    const n = data.meta.views[view].n_terms;
    const indptr = data.arrays[`counts.${view}.indptr`];
    const terms = data.arrays[`counts.${view}.indices`];
    const values = data.arrays[`counts.${view}.values`];
    const rare = Float64Array.from({ length: n }, (_, w) => rarity(data, view, w));
    const starts = new Uint32Array(n + 1);
    for (const w of terms) starts[w + 1] += 1;
    for (let w = 0; w < n; w++) starts[w + 1] += starts[w];
    const next = starts.slice();
    const rows = new Uint32Array(terms.length);
    const weights = new Float32Array(terms.length);
    for (let row = 0; row + 1 < indptr.length; row++) {
      let squares = 0;
      for (let i = indptr[row]; i < indptr[row + 1]; i++) {
        const weight = Math.log1p(values[i]) * rare[terms[i]];
        squares += weight * weight;
      }
      const length = squares > 0 ? Math.sqrt(squares) : 1;
      for (let i = indptr[row]; i < indptr[row + 1]; i++) {
        const place = next[terms[i]]++;
        rows[place] = row;
        weights[place] = (Math.log1p(values[i]) * rare[terms[i]]) / length;
      }
    }
    return { starts, rows, weights };
  });
}

/** Return the terms of a query in the columns of each view searched, and their length |q|. */
function queryWords(data, counts, views) {
  const own = new Map();
  for (const [v, found] of counts) own.set(v, weighted(data, v, found));
  const parts = views.map((v) => own.get(v) ?? fromOthers(data, own, v));
  const lengths = parts.map((part) => Math.sqrt(sumOfSquares(part)));
  const total = lengths.reduce((a, b) => a + b, 0);
  const divisor = Math.max(total, 1);
  const scaled = parts.map((part) => new Map(Array.from(part, ([w, x]) => [w, x / divisor])));
  return { parts: scaled, share: Math.min(total / divisor, 1) };
}

function fromOthers(data, own, view) {
  const found = new Map();
  for (const [other, weights] of own) {
    for (const [w, x] of weights) {
      const target = sharedTerms(data, other, view).get(w);
      if (target !== undefined) found.set(target, (found.get(target) ?? 0) + x / own.size);
    }
  }
  return found;
}

function sharedTerms(data, from, to) {
  return cached(data, `shared ${from} ${to}`, () => {
    const pairs = data.meta.search.shared_terms[`${from}.${to}`];
    return new Map(pairs ? pairs[0].map((w, i) => [w, pairs[1][i]]) : []);
  });
}

function sumOfSquares(weights) {
  let sum = 0;
  for (const x of weights.values()) sum += x * x;
  return sum;
}

// -- scores -----------------------------------------------------------------------------------------

function prepare(data, asked, gallery) {
  const k = data.meta.n_topics;
  const vector = new Float64Array(2 * k);
  let squares = 0;
  for (let z = 0; z < k; z++) {
    vector[z] = Math.sqrt(asked.mixture[z]);
    squares += asked.mixture[z];
  }
  const evidence = new Float64Array(k);
  for (const [v, { terms, values }] of asked.counts) {
    addEvidence(gains(data, v), terms, values, 0, terms.length, evidence, 0, k);
  }
  squares += centerAndScale(evidence, 0, k);
  vector.set(evidence, k);
  const length = Math.sqrt(squares);
  if (length > 0) for (let i = 0; i < 2 * k; i++) vector[i] /= length;
  return { vector, ...queryWords(data, asked.counts, gallery.views) };
}

function scoreAll(data, { vector, parts, share }, gallery) {
  const width = vector.length;
  const weight = data.meta.search.words_weight;
  const scores = new Float64Array(data.meta.n_docs).fill(NaN);
  const { vectors, lengths } = gallery;
  for (const row of gallery.rows) {
    const at = row * width;
    let sum = 0;
    for (let i = 0; i < width; i++) sum += vector[i] * vectors[at + i];
    scores[row] = (1 - weight * share) * (lengths[row] > 0 ? sum / lengths[row] : 0);
  }
  parts.forEach((part, p) => {
    const { starts, rows, weights } = gallery.words[p];
    for (const [w, x] of part) {
      for (let i = starts[w]; i < starts[w + 1]; i++) scores[rows[i]] += weight * x * weights[i];
    }
  });
  for (const row of gallery.rows) if (scores[row] > 1) scores[row] = 1;
  return scores;
}

/** Return the `top` best rows, best first, of equal scores the earlier ones. */
function best(scores, rows, wanted, top) {
  const before = (a, b) => scores[b] - scores[a] || a - b;
  const kept = [];
  for (const row of rows) {
    if (kept.length === top && before(row, kept[top - 1]) >= 0) continue;
    if (!wanted(row)) continue;
    let place = kept.length;
    while (place > 0 && before(row, kept[place - 1]) < 0) place--;
    kept.splice(place, 0, row);
    if (kept.length > top) kept.pop();
  }
  return kept;
}

/** Return what each topic and each shared word adds to the score of an answer, the most first. */
function why(data, { vector, parts, share }, gallery, row) {
  const k = data.meta.n_topics;
  const weight = data.meta.search.words_weight;
  const byTopic = [];
  for (let z = 0; z < k; z++) {
    const at = row * 2 * k + z;
    const sum = vector[z] * gallery.vectors[at] + vector[k + z] * gallery.vectors[at + k];
    const amount = gallery.lengths[row] > 0 ? ((1 - weight * share) * sum) / gallery.lengths[row] : 0;
    if (amount > 0.005) byTopic.push([z, amount]);
  }
  const terms = [];
  parts.forEach((part, p) => {
    const view = gallery.views[p];
    const own = weighted(data, view, countsOf(data, view, row));
    for (const [w, x] of part) {
      const amount = weight * x * (own.get(w) ?? 0);
      if (amount > 0) terms.push([view, w, amount]);
    }
  });
  byTopic.sort((a, b) => b[1] - a[1]);
  terms.sort((a, b) => b[2] - a[2]);
  const words = terms.reduce((sum, term) => sum + term[2], 0);
  return { topics: byTopic.slice(0, 5), terms: terms.slice(0, 8), words };
}
