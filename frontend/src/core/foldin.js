// Fold documents in as Python does (coview/em/loop.py: fold_in): EM on the mixture alone.

import { termNumbers, topicsOfTerms } from "./decode.js";
import { tokenize } from "./tokens.js";

const FLOOR = 1e-30; // p(w|d) of a word that no topic has

/** Return a text as counts {terms, values} of a view, its terms in order, and those not known. */
export function readText(data, view, text) {
  const { recipe } = data.meta.views[view];
  const numbers = termNumbers(data, view);
  const tokens = tokenize(recipe, text);
  const found = new Map();
  const unknown = [];
  for (const token of tokens) {
    const w = numbers.get(token);
    if (w === undefined) unknown.push(token);
    else found.set(w, recipe.binary ? 1 : (found.get(w) ?? 0) + 1);
  }
  const terms = Array.from(found.keys()).sort((a, b) => a - b);
  const values = terms.map((w) => found.get(w));
  return { terms, values: weigh(data, view, terms, values), tokens, unknown };
}

/** Return tf-idf weights, as scikit-learn's TfidfTransformer gives them; else the counts. */
function weigh(data, view, terms, counts) {
  const { tfidf } = data.meta.views[view].recipe;
  if (!tfidf) return counts;
  const idf = tfidf.idf ? data.arrays[`idf.${view}`] : null;
  const weights = counts.map((n, i) => {
    const tf = tfidf.sublinear ? Math.log(n) + 1 : n;
    return idf ? tf * idf[terms[i]] : tf;
  });
  if (!tfidf.norm) return weights;
  const sum = weights.reduce((s, x) => s + (tfidf.norm === "l1" ? Math.abs(x) : x * x), 0);
  const length = tfidf.norm === "l1" ? sum : Math.sqrt(sum);
  return length > 0 ? weights.map((x) => x / length) : weights;
}

/** Return the mixture p(z|d) of counts {terms, values} of a view; uniform if nothing is known. */
export function foldIn(data, view, counts) {
  const { n_topics: k, search } = data.meta;
  const { weight } = data.meta.views[view];
  const rows = topicsOfTerms(data, view, counts.terms);
  let theta = new Float64Array(k).fill(1 / k);
  for (let step = 0; step < search.max_iter; step++) {
    const next = expectedCounts(rows, counts.values, theta, weight);
    addPrior(next, search.prior - 1);
    if (!normalize(next, search.tiny)) return Float32Array.from(theta);
    let change = 0;
    for (let z = 0; z < k; z++) change = Math.max(change, Math.abs(next[z] - theta[z]));
    theta = next;
    if (change <= search.tol) break;
  }
  return Float32Array.from(theta);
}

function expectedCounts(rows, values, theta, weight) {
  const k = theta.length;
  const sums = new Float64Array(k);
  for (let i = 0; i < values.length; i++) {
    const at = i * k;
    let p = 0;
    for (let z = 0; z < k; z++) p += theta[z] * rows[at + z];
    const ratio = values[i] / Math.max(p, FLOOR);
    for (let z = 0; z < k; z++) sums[z] += ratio * rows[at + z];
  }
  for (let z = 0; z < k; z++) sums[z] *= weight * theta[z];
  return sums;
}

/** Add pseudo-counts; where they take all, the largest count stays: kernels/simplex.py. */
function addPrior(counts, excess) {
  if (excess === 0) return;
  let largest = 0;
  for (let z = 1; z < counts.length; z++) if (counts[z] > counts[largest]) largest = z;
  const kept = counts[largest];
  if (!(kept > 0)) return;
  for (let z = 0; z < counts.length; z++) counts[z] = Math.max(counts[z] + excess, 0);
  if (!(counts[largest] > 0)) counts[largest] = kept;
}

function normalize(counts, tiny) {
  let mass = 0;
  for (const count of counts) mass += count;
  if (!(mass > 0)) return false;
  for (let z = 0; z < counts.length; z++) {
    const share = counts[z] / mass;
    counts[z] = share >= tiny ? share : 0;
  }
  return true;
}
