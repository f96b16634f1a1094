// What a mixture says about a view: t sum_z p(z|d) p(w|z) + (1 - t) p(w), as `coview.annotation` has it.

const LEVELS = 65535;

/** Return how far the mixture of a document can be trusted: as the best of the views that it has. */
export function trustOf(data, row) {
  const views = data.meta.views;
  let best = 0;
  for (let v = 0; v < views.length; v++) {
    if (data.arrays.present[row * views.length + v]) best = Math.max(best, views[v].trust ?? 1);
  }
  return best;
}

/** Return the most likely terms of a view for a mixture: [{term, name, p}], the likeliest first. */
export function predictTerms(data, mixture, view, n = 10, trust = 1) {
  const { n_terms: width, terms } = data.meta.views[view];
  const values = data.arrays[`phi.${view}.values`];
  const scale = data.arrays[`phi.${view}.scale`];
  const p = new Float64Array(width);
  for (let z = 0; z < mixture.length; z++) {
    if (!(mixture[z] > 1e-6)) continue; // adds to no term that is shown
    for (let w = 0; w < width; w++) {
      const root = values[z * width + w] / LEVELS;
      p[w] += mixture[z] * scale[w] * root * root;
    }
  }
  let total = 0;
  for (const share of p) total += share; // in some models the topics of one view do not sum to one
  const usual = data.arrays[`term_share.${view}`];
  for (let w = 0; w < width; w++) p[w] = (trust * p[w]) / (total || 1) + (trust < 1 ? (1 - trust) * usual[w] : 0);
  const order = Array.from(p.keys()).filter((w) => p[w] > 0);
  order.sort((a, b) => p[b] - p[a] || a - b);
  return order.slice(0, n).map((w) => ({ term: w, name: terms[w], p: p[w] }));
}
