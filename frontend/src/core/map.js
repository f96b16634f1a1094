// Where a mixture stands on the map: at the barycenter of its topics, weights p(z|d)^4, so that the
// main topics decide and documents of one topic are near it.

import { cached, mixtures } from "./decode.js";

/** Return the place [x, y] of a mixture; [0, 0] for one without any share. */
export function place(data, mixture) {
  const xy = data.arrays.topic_xy;
  let x = 0;
  let y = 0;
  let sum = 0;
  for (let z = 0; z < mixture.length; z++) {
    const weight = mixture[z] ** 4;
    x += weight * xy[2 * z];
    y += weight * xy[2 * z + 1];
    sum += weight;
  }
  return sum > 0 ? [x / sum, y / sum] : [0, 0];
}

/** Return the places of all documents in a view (null: all views), Float32Array(2 n); NaN: lacks it. */
export function places(data, view) {
  return cached(data, `places ${view}`, () => {
    const { n_docs: n, n_topics: k } = data.meta;
    const all = mixtures(data, view);
    const out = new Float32Array(2 * n);
    for (let row = 0; row < n; row++) {
      const own = all.subarray(row * k, (row + 1) * k);
      const there = own.some((share) => share > 0);
      const [x, y] = there ? place(data, own) : [NaN, NaN];
      out[2 * row] = x;
      out[2 * row + 1] = y;
    }
    return out;
  });
}
