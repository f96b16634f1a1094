// What a mixture says about a view: p(w|d) = sum_z p(z|d) p(w|z).

const LEVELS = 65535;

/** Return the most likely terms of a view for a mixture: [{term, name, p}], the likeliest first. */
export function predictTerms(data, mixture, view, n = 10) {
  const { n_terms: width, terms } = data.meta.views[view];
  const values = data.arrays[`phi.${view}.values`];
  const scale = data.arrays[`phi.${view}.scale`];
  const p = new Float64Array(width);
  for (let z = 0; z < mixture.length; z++) {
    if (!(mixture[z] > 1e-6)) continue; // adds to no term that is shown
    const weight = mixture[z] * scale[z];
    for (let w = 0; w < width; w++) {
      const root = values[z * width + w] / LEVELS;
      p[w] += weight * root * root;
    }
  }
  let total = 0;
  for (const share of p) total += share; // in some models the topics of one view do not sum to one
  const order = Array.from(p.keys()).filter((w) => p[w] > 0);
  order.sort((a, b) => p[b] - p[a] || a - b);
  return order.slice(0, n).map((w) => ({ term: w, name: terms[w], p: p[w] / total }));
}
