// Read the data of a page: see src/coview/explorer/container.py for the format.

const TYPES = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, i4: Int32Array, f4: Float32Array };
const LEVELS = 65535;

/** Read base64 of a gzipped container. */
export async function decode(base64) {
  return unpack(await gunzip(bytesOf(base64)));
}

/** Read a gzipped container (bytes), as the server sends it or a page holds it. */
export async function gunzip(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function bytesOf(base64) {
  const text = atob(base64.trim());
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** Return {meta, arrays} of a container; arrays are flat typed arrays, shapes has their shapes. */
export function unpack(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const arrays = {};
  const shapes = {};
  for (const [name, entry] of Object.entries(header.arrays)) {
    const size = entry.shape.reduce((a, b) => a * b, 1);
    const begin = 4 + length + entry.offset;
    const Type = TYPES[entry.dtype];
    const raw = bytes.subarray(begin, begin + size * Type.BYTES_PER_ELEMENT);
    arrays[name] = decodeArray(raw, size, Type, entry.coding);
    shapes[name] = entry.shape;
  }
  return { meta: header.meta, arrays, shapes };
}

function decodeArray(raw, size, Type, coding) {
  const width = Type.BYTES_PER_ELEMENT;
  const bytes = new Uint8Array(size * width);
  if (coding.includes("planes")) {
    for (let b = 0; b < width; b++) {
      const plane = b * size;
      for (let i = 0; i < size; i++) bytes[i * width + b] = raw[plane + i];
    }
  } else {
    bytes.set(raw);
  }
  const values = new Type(bytes.buffer);
  if (coding.includes("delta")) {
    // the array's own type wraps around, as the differences did
    for (let i = 1; i < size; i++) values[i] += values[i - 1];
  }
  return values;
}

// -- what is in the arrays ------------------------------------------------------------------------

const caches = new WeakMap();

/** Return what `make` gives, computed once for these data. */
export function cached(data, key, make) {
  let known = caches.get(data);
  if (!known) caches.set(data, (known = new Map()));
  if (!known.has(key)) known.set(key, make());
  return known.get(key);
}

const nameOf = (view) => (view === null || view === undefined ? "theta" : `theta.${view}`);

/** Return the mixture of a document: of view number `view` alone, or of all views (null). */
export function mixture(data, view, row) {
  const out = new Float32Array(data.meta.n_topics);
  addMixture(data, nameOf(view), row, out, 0);
  return out;
}

function addMixture(data, name, row, out, at) {
  const indptr = data.arrays[`${name}.indptr`];
  if (!indptr) return;
  const topics = data.arrays[`${name}.topics`];
  const values = data.arrays[`${name}.values`];
  for (let i = indptr[row]; i < indptr[row + 1]; i++) {
    const root = values[i] / LEVELS;
    out[at + topics[i]] = root * root;
  }
}

/** Return all mixtures, row after row: Float32Array(n_docs * n_topics), zeros where there is none. */
export function mixtures(data, view) {
  return cached(data, `mixtures ${view}`, () => {
    const { n_docs: n, n_topics: k } = data.meta;
    const out = new Float32Array(n * k);
    for (let row = 0; row < n; row++) addMixture(data, nameOf(view), row, out, row * k);
    return out;
  });
}

/** Return the topic with the largest share of each document, -1 where there is no mixture. */
export function mainTopics(data, view) {
  return cached(data, `main ${view}`, () => {
    const name = nameOf(view);
    const indptr = data.arrays[`${name}.indptr`];
    const out = new Int32Array(data.meta.n_docs).fill(-1);
    if (!indptr) return out;
    const topics = data.arrays[`${name}.topics`];
    const values = data.arrays[`${name}.values`];
    for (let row = 0; row < out.length; row++) {
      let best = -1;
      for (let i = indptr[row]; i < indptr[row + 1]; i++) {
        if (values[i] > best) {
          best = values[i];
          out[row] = topics[i];
        }
      }
    }
    return out;
  });
}

/** Return p(w|z) of a view, topic after topic: Float64Array(n_topics * n_terms). */
export function topics(data, view) {
  const n = data.meta.views[view].n_terms;
  const scale = data.arrays[`phi.${view}.scale`];
  return Float64Array.from(data.arrays[`phi.${view}.values`], (u, i) => (u / LEVELS) ** 2 * scale[i % n]);
}

/** Return p(w|z) of some terms, term after term: Float64Array(terms.length * n_topics). */
export function topicsOfTerms(data, view, terms) {
  const k = data.meta.n_topics;
  const n = data.meta.views[view].n_terms;
  const values = data.arrays[`phi.${view}.values`];
  const scale = data.arrays[`phi.${view}.scale`];
  const out = new Float64Array(terms.length * k);
  for (let i = 0; i < terms.length; i++) {
    for (let z = 0; z < k; z++) {
      const root = values[z * n + terms[i]] / LEVELS;
      out[i * k + z] = root * root * scale[terms[i]];
    }
  }
  return out;
}

/** Return the counts of a document in a view: {terms: [...], values: [...]}; null if not there. */
export function countsOf(data, view, row) {
  const indptr = data.arrays[`counts.${view}.indptr`];
  if (!indptr) return null;
  const part = (name) =>
    Array.from(data.arrays[`counts.${view}.${name}`].subarray(indptr[row], indptr[row + 1]));
  return { terms: part("indices"), values: part("values") };
}

/** Return numbers of half precision, given as their bits. */
export function halves(bits) {
  return Float32Array.from(bits, (u) => {
    const [exponent, fraction] = [(u >> 10) & 31, u & 1023];
    const size = exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -24 * fraction;
    return u >> 15 ? -size : size;
  });
}

/** Return the number of a term by its name, undefined if the view does not have it. */
export function termNumbers(data, view) {
  return cached(data, `numbers ${view}`, () => {
    const numbers = new Map();
    data.meta.views[view].terms.forEach((term, w) => numbers.set(term, w));
    return numbers;
  });
}
