// The terms of a topic, as coview.report.top_terms ranks them.

const LEVELS = 65535;
const NEGLIGIBLE = 1e-4; // of the probability of the first term of a topic

/**
 * Return the most relevant terms of a topic in a view: [{term, name, p, lift, relevance}].
 * `lambda` = 1 ranks by p(w|z), 0 by p(w|z) / p(w).
 */
export function topTerms(data, view, topic, lambda = 0.6, n = 10) {
  const { n_terms: width, terms } = data.meta.views[view];
  const values = data.arrays[`phi.${view}.values`];
  const scale = data.arrays[`phi.${view}.scale`][topic];
  const share = data.arrays[`term_share.${view}`];
  const found = [];
  for (let w = 0; w < width; w++) {
    const root = values[topic * width + w] / LEVELS;
    const p = root * root * scale;
    if (!(p > 0) || !(share[w] > 0)) continue;
    const lift = Math.log(p / share[w]);
    found.push({ term: w, p, lift, relevance: lambda * Math.log(p) + (1 - lambda) * lift });
  }
  found.sort((a, b) => b.relevance - a.relevance || a.term - b.term);
  const kept = found.slice(0, n).filter(({ p }) => p > NEGLIGIBLE * scale);
  return kept.map((entry) => ({ ...entry, name: terms[entry.term] }));
}
