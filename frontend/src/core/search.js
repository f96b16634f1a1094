// Search as coview.search(model, query, in_view=...) does: src/coview/retrieval/evidence.py.
//
// Four kinds of evidence about each document, weighted by how far held-back documents were found by
// them; a score is the probability that the document is the one asked for.

import { cached, countsOf, halves, topics } from "./decode.js";
import { foldIn, readText } from "./foldin.js";

export const KINDS = ["names", "translation", "topics", "map"];
const [NAMES, TRANSLATION, TOPICS, MAP] = KINDS.keys();
const NOTHING = 1e-9; // evidence, in nats a term
const WORDS = 6; // of a query that are named in a reason, and of an answer for each of them
const CALLED = 3;

/**
 * Find the documents that a query asks for.
 *
 * `askView` is the number of the view that asks (null: all views of a row), `query` one of
 * {text}, {row} and {counts: {terms, values}}; `answerView` the view that answers (null: all);
 * `filter(row)` leaves documents out, `top` is the number of answers. Returns {hits: [{row, score,
 * why}], mixture, tokens, unknown, reason}: without hits `reason` says why. A filter changes no
 * score: it is the probability among all documents.
 */
export function search(data, { askView, query, answerView = null, filter = null, top = 10 }) {
  const read = readQuery(data, askView, query);
  const about = { tokens: read.tokens ?? [], unknown: read.unknown ?? [] };
  if (read.reason) return { hits: [], mixture: null, reason: read.reason, ...about };
  const { found, said } = compare(data, read.asked, answersOf(data, answerView));
  const excluded = query.row ?? -1;
  const wanted = (row) => row !== excluded && (!filter || filter(row));
  const hits = best(found, wanted, top).map((row) => ({ row, score: Math.exp(found[row]), why: why(data, said, row) }));
  return { hits, mixture: read.mixture, ...about };
}

/** Return the score of every document (NaN: it cannot be an answer), for tests and plots. */
export function allScores(data, { askView, query, answerView = null }) {
  const read = readQuery(data, askView, query);
  if (read.reason) return null;
  const { found } = compare(data, read.asked, answersOf(data, answerView));
  return found.map((x) => (x > -Infinity ? Math.exp(x) : NaN));
}

const answersOf = (data, view) => (view === null ? data.meta.search.answer : data.meta.search.answer.filter((v) => v === view));

// -- the query ------------------------------------------------------------------------------------

function readQuery(data, askView, query) {
  if (query.row !== undefined) return readRow(data, askView, query.row);
  const view = data.meta.views[askView];
  if (query.text !== undefined && !view.recipe) {
    return { reason: `View ${view.name} cannot be asked with a text: ${view.no_recipe}.` };
  }
  const read = query.text !== undefined ? readText(data, askView, query.text) : { ...query.counts };
  const asked = askedWith(data, askView, read);
  if (!asked) return { ...read, reason: `The model knows nothing of this in view ${view.name}.` };
  return { ...read, asked: [asked], mixture: foldIn(data, askView, read) };
}

function readRow(data, askView, row) {
  const views = askView === null ? data.meta.views.map((_, v) => v) : [askView];
  const asked = views.map((v) => askedWith(data, v, countsOf(data, v, row))).filter((one) => one);
  return asked.length ? { asked, mixture: null } : { reason: "This document has nothing to search with in this view." };
}

/** Return one view of a query as it is compared; null without a known term. */
function askedWith(data, view, counts) {
  const share = data.arrays[`damped_share.${view}`];
  if (!counts || !share) return null;
  const kept = Array.from(counts.terms.keys()).filter((i) => share[counts.terms[i]] > 0);
  if (!kept.length) return null;
  const terms = kept.map((i) => counts.terms[i]);
  const damped = kept.map((i) => Math.log1p(counts.values[i]));
  const total = damped.reduce((sum, x) => sum + x, 0);
  const shares = damped.map((x) => x / total);
  const evidence = new Float64Array(data.meta.n_topics);
  addTopics(gains(data, view), terms, shares, 0, terms.length, evidence);
  unit(evidence);
  const weights = shares.map((x) => x * Math.sqrt(terms.length));
  return { view, terms, weights, topics: evidence, place: placeOf(data, view, terms, damped) };
}

// -- topics -----------------------------------------------------------------------------------------

/** Return log((p(w|z) + p(w)) / 2 p(w)), term after term: Float64Array(n_terms * n_topics). */
function gains(data, view) {
  return cached(data, `gains ${view}`, () => {
    const k = data.meta.n_topics;
    const n = data.meta.views[view].n_terms;
    const p = topics(data, view);
    const share = data.arrays[`term_share.${view}`];
    const out = new Float64Array(n * k);
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

function addTopics(gain, terms, shares, begin, end, out) {
  const k = out.length;
  for (let i = begin; i < end; i++) {
    const from = terms[i] * k;
    for (let z = 0; z < k; z++) out[z] += shares[i] * gain[from + z];
  }
  let mean = 0;
  for (const x of out) mean += x / k;
  for (let z = 0; z < k; z++) out[z] = Math.abs(out[z] - mean) < NOTHING ? 0 : out[z] - mean;
}

/** Bring a vector to length 1, unless it is zero. */
function unit(vector) {
  let squares = 0;
  for (const x of vector) squares += x * x;
  const length = Math.sqrt(squares) || 1;
  for (let i = 0; i < vector.length; i++) vector[i] /= length;
}

// -- the linear map -----------------------------------------------------------------------------------

/** Return where a document stands in the space of its view; empty where no map uses the space. */
function placeOf(data, view, terms, damped) {
  const rarity = data.arrays[`rarity.${view}`];
  if (!rarity) return new Float64Array(0);
  const directions = cached(data, `directions ${view}`, () => halves(data.arrays[`directions.${view}`]));
  const out = new Float64Array(directions.length / rarity.length);
  let squares = 0;
  for (let i = 0; i < terms.length; i++) {
    const weight = damped[i] * rarity[terms[i]];
    squares += weight * weight;
    for (let j = 0, from = terms[i] * out.length; j < out.length; j++) out[j] += weight * directions[from + j];
  }
  const length = Math.sqrt(squares) || 1;
  return out.map((x) => x / length);
}

/** Return the place of a query in the space of the view that answers. */
function mapped(data, { view, place }, answer) {
  const mapping = data.arrays[`map.${view}.${answer}`];
  const center = data.arrays[`map_center.${view}.${answer}`];
  const out = Float64Array.from(center, (x) => -x);
  for (let i = 0; i < place.length; i++) {
    for (let j = 0; j < out.length; j++) out[j] += place[i] * mapping[i * out.length + j];
  }
  unit(out);
  return out;
}

// -- the documents searched -------------------------------------------------------------------------

/** Return what the documents of a view are compared by: f(w|d) by term, topics, places; made once. */
function searched(data, view) {
  return cached(data, `searched ${view}`, () => {
    const { n_docs: n, n_topics: k } = data.meta;
    const indptr = data.arrays[`counts.${view}.indptr`];
    const terms = data.arrays[`counts.${view}.indices`];
    const share = data.arrays[`damped_share.${view}`];
    const damped = Float64Array.from(data.arrays[`counts.${view}.values`], (x, i) => (share[terms[i]] > 0 ? Math.log1p(x) : 0));
    const shares = damped.slice();
    const center = data.arrays[`center.${view}`] ?? [];
    const found = { topics: new Float32Array(n * k), places: new Float32Array(n * center.length), has: new Uint8Array(n) };
    const gain = gains(data, view);
    for (let row = 0; row < n; row++) {
      const [begin, end] = [indptr[row], indptr[row + 1]];
      let total = 0;
      for (let i = begin; i < end; i++) total += damped[i];
      if (!(total > 0)) continue;
      found.has[row] = 1;
      for (let i = begin; i < end; i++) shares[i] /= total;
      const evidence = new Float64Array(k);
      addTopics(gain, terms, shares, begin, end, evidence);
      unit(evidence);
      found.topics.set(evidence, row * k);
      if (!center.length) continue;
      const place = placeOf(data, view, terms.subarray(begin, end), damped.subarray(begin, end));
      for (let j = 0; j < place.length; j++) place[j] -= center[j];
      unit(place);
      found.places.set(place, row * place.length);
    }
    return { ...found, byTerm: turned(indptr, terms, Float32Array.from(shares), share.length) };
  });
}

/** Return a sparse matrix column by column: {starts, rows, values}. */
function turned(indptr, columns, values, n) {
  const starts = new Uint32Array(n + 1);
  for (const w of columns) starts[w + 1] += 1;
  for (let w = 0; w < n; w++) starts[w + 1] += starts[w];
  const next = starts.slice();
  const found = { starts, rows: new Uint32Array(columns.length), values: new Float32Array(columns.length) };
  for (let row = 0; row + 1 < indptr.length; row++) {
    for (let i = indptr[row]; i < indptr[row + 1]; i++) {
      const place = next[columns[i]]++;
      found.rows[place] = row;
      found.values[place] = values[i];
    }
  }
  return found;
}

/** Return which terms w' of the answers stand for each term w of a query, with t(w|w'). */
function calls(data, kind, view, answer) {
  return cached(data, `calls ${kind} ${view} ${answer}`, () => {
    const n = data.meta.views[view].n_terms;
    if (kind === TRANSLATION) {
      const [indptr, indices, values] = ["indptr", "indices", "values"].map((part) => data.arrays[`table.${answer}.${view}.${part}`] ?? []);
      return turned(indptr, indices, values, n);
    }
    const names = data.arrays[`names.${view}.${answer}.indices`];
    const all = Uint32Array.from({ length: n }, (_, w) => w);
    const [own, other] = view === answer ? [all, all] : [names.subarray(0, names.length / 2), names.subarray(names.length / 2)];
    const starts = Uint32Array.from({ length: own.length + 1 }, (_, i) => i);
    const found = turned(starts, own, new Float32Array(own.length).fill(1), n);
    return { ...found, rows: found.rows.map((i) => other[i]) };
  });
}

// -- scores -----------------------------------------------------------------------------------------

const weightsOf = (data, view, answer) => data.meta.search.weights[`${view}.${answer}`];

/** Return log p(d|q) of all documents, and what each pair of views says: [{asked, answer, parts, found}]. */
function compare(data, query, answers) {
  const n = data.meta.n_docs;
  const total = new Float64Array(n);
  const said = [];
  for (const asked of query) {
    const most = new Float64Array(n).fill(-Infinity);
    for (const answer of answers) {
      const weights = weightsOf(data, asked.view, answer);
      const parts = partsOf(data, asked, answer, weights);
      const { has } = searched(data, answer);
      const found = new Float64Array(n);
      parts.forEach((part, k) => weights[k] > 0 && part.forEach((x, d) => (found[d] += weights[k] * x)));
      for (let d = 0; d < n; d++) if (!has[d]) found[d] = -Infinity;
      logSoftmax(found);
      for (let d = 0; d < n; d++) if (found[d] > most[d]) most[d] = found[d];
      said.push({ asked, answer, weights, parts, found });
    }
    for (let d = 0; d < n; d++) total[d] += most[d] / query.length;
  }
  logSoftmax(total);
  return { found: total, said };
}

/** Return the evidence of each kind about each document; nothing for kinds that do not count. */
function partsOf(data, asked, answer, weights) {
  const n = data.meta.n_docs;
  const documents = searched(data, answer);
  return KINDS.map((_, kind) => {
    const out = new Float64Array(n);
    if (!(weights[kind] > 0)) return out;
    if (kind === NAMES || kind === TRANSLATION) addCalled(data, asked, documents, calls(data, kind, asked.view, answer), out);
    if (kind === TOPICS) addProducts(documents.topics, Float32Array.from(asked.topics), out);
    if (kind === MAP) addProducts(documents.places, Float32Array.from(mapped(data, asked, answer)), out);
    return out;
  });
}

function addProducts(rows, vector, out) {
  for (let d = 0, at = 0; d < out.length; d++) {
    let sum = 0;
    for (let i = 0; i < vector.length; i++, at++) sum += vector[i] * rows[at];
    out[d] = sum;
  }
}

/** Add sum_w q(w) log(1 + x(w,d) / p(w)), x(w,d) = sum_w' t(w|w') f(w'|d). */
function addCalled(data, asked, { byTerm }, called, out) {
  const share = data.arrays[`damped_share.${asked.view}`];
  const total = new Float64Array(out.length);
  asked.terms.forEach((w, i) => {
    const seen = [];
    for (let k = called.starts[w]; k < called.starts[w + 1]; k++) {
      const call = called.values[k] / share[w];
      const second = called.rows[k];
      for (let j = byTerm.starts[second]; j < byTerm.starts[second + 1]; j++) {
        const d = byTerm.rows[j];
        if (total[d] === 0) seen.push(d);
        total[d] += call * byTerm.values[j];
      }
    }
    for (const d of seen) {
      out[d] += asked.weights[i] * Math.log1p(total[d]);
      total[d] = 0;
    }
  });
}

function logSoftmax(scores) {
  let most = -Infinity;
  for (const x of scores) if (x > most) most = x;
  if (most === -Infinity) return;
  let sum = 0;
  for (const x of scores) sum += Math.exp(x - most);
  const shift = most + Math.log(sum);
  for (let d = 0; d < scores.length; d++) scores[d] -= shift;
}

/** Return the `top` best rows, best first, of equal scores the earlier ones. */
function best(scores, wanted, top) {
  const before = (a, b) => scores[b] - scores[a] || a - b;
  const kept = [];
  for (let row = 0; row < scores.length; row++) {
    if (scores[row] === -Infinity || (kept.length === top && before(row, kept[top - 1]) >= 0)) continue;
    if (!wanted(row)) continue;
    let place = kept.length;
    while (place > 0 && before(row, kept[place - 1]) < 0) place--;
    kept.splice(place, 0, row);
    if (kept.length > top) kept.pop();
  }
  return kept;
}

// -- why ----------------------------------------------------------------------------------------------

/**
 * Return what each kind of evidence says for an answer, the most first: [{kind, share, topic, calls}].
 * `topic` is the one that speaks most for it; `calls` are [word of the query, words of the answer that
 * stand for it, how much these add]. Nothing is returned for an answer without evidence.
 */
function why(data, said, row) {
  const { asked, answer, weights, parts } = said.reduce((most, one) => (one.found[row] > most.found[row] ? one : most));
  const added = weights.map((weight, k) => Math.max(weight * parts[k][row], 0));
  const total = added.reduce((sum, x) => sum + x, 0);
  const reasons = KINDS.map((kind, k) => ({ kind, contribution: added[k], share: added[k] / total, topic: null, calls: [] }));
  if (added[TOPICS] > 0) reasons[TOPICS].topic = nearestTopic(data, asked, answer, row);
  for (const kind of [NAMES, TRANSLATION]) {
    if (added[kind] > 0) reasons[kind].calls = callsIn(data, kind, asked, answer, row);
  }
  return reasons.filter(({ contribution }) => contribution > 0).sort((a, b) => b.contribution - a.contribution);
}

function nearestTopic(data, asked, answer, row) {
  const k = data.meta.n_topics;
  const own = searched(data, answer).topics.subarray(row * k);
  const products = asked.topics.map((x, z) => (x > 0 ? x * own[z] : -Infinity)); // none that both lack
  return products.indexOf(Math.max(...products));
}

function callsIn(data, kind, asked, answer, row) {
  const called = calls(data, kind, asked.view, answer);
  const { terms, values } = countsOf(data, answer, row);
  const damped = values.map((x) => Math.log1p(x));
  const total = damped.reduce((sum, x) => sum + x, 0);
  const shares = new Map(terms.map((w, i) => [w, damped[i] / total]));
  const p = data.arrays[`damped_share.${asked.view}`];
  const name = (view, w) => data.meta.views[view].terms[w];
  const found = asked.terms.map((w, i) => {
    const amounts = [];
    for (let k = called.starts[w]; k < called.starts[w + 1]; k++) {
      const amount = (called.values[k] * (shares.get(called.rows[k]) ?? 0)) / p[w];
      if (amount > 0) amounts.push([called.rows[k], amount]);
    }
    amounts.sort((a, b) => b[1] - a[1]);
    const added = asked.weights[i] * Math.log1p(amounts.reduce((sum, [, x]) => sum + x, 0));
    return [name(asked.view, w), amounts.slice(0, CALLED).map(([t]) => name(answer, t)), added];
  });
  return found.filter(([, , added]) => added > 0).sort((a, b) => b[2] - a[2]).slice(0, WORDS);
}
