// What the page asks about the documents: the decoded arrays with curation applied.

import { callsFor, topicWords } from "../core/words.js";
import { clip, percent } from "./format.js";

const LEVELS = 65535;
const WEIGHT = 4; // documents stand at the barycenter of their topics, weighted by theta^4

/** Two numbers between -1 and 1 that depend on the row alone, denser in the middle. */
function scatter(row) {
  let h = Math.imul(row + 1, 2654435761) >>> 0;
  h = Math.imul(h ^ (h >>> 15), 2246822519) >>> 0;
  h = (h ^ (h >>> 13)) >>> 0;
  const angle = ((h & 0xffff) / 65536) * 2 * Math.PI;
  const radius = ((h >>> 16) / 65536) ** 0.8;
  return [Math.cos(angle) * radius, Math.sin(angle) * radius];
}

/** Places of topics between -1 and 1, whatever the scale of the payload. */
function normalized(xy) {
  const n = xy.length / 2;
  const low = [Infinity, Infinity];
  const high = [-Infinity, -Infinity];
  for (let i = 0; i < n; i += 1) {
    for (const axis of [0, 1]) {
      const value = xy[2 * i + axis];
      if (value < low[axis]) low[axis] = value;
      if (value > high[axis]) high[axis] = value;
    }
  }
  const half = Math.max(high[0] - low[0], high[1] - low[1]) / 2 || 1;
  return Float32Array.from(xy, (value, i) => (value - (low[i % 2] + high[i % 2]) / 2) / half);
}

export class Corpus {
  constructor(data) {
    this.data = data;
    this.meta = data.meta;
    this.arrays = data.arrays;
    this.views = data.meta.views;
    this.topics = data.meta.topics;
    this.levels = data.meta.levels ?? []; // coarser ones of the model's tree, from fine to coarse
    this.docs = data.meta.docs;
    this.n = data.meta.n_docs;
    this.k = data.meta.n_topics;
    this.topicXY = normalized(this.arrays.topic_xy);
    this.spread = Math.min(0.2, 0.6 / Math.sqrt(this.k)); // documents of one place are moved apart
    this.noticeable = data.meta.noticeable; // loss beyond chance from which views disagree
    this.server = Boolean(data.server);
    this.kept = new Map();
  }

  /** The name that a topic has by itself: that of the model, or its first terms. */
  topicName(topic) {
    return this.once(`name ${topic}`, () => {
      const own = this.topics[topic]?.name;
      if (own) return own;
      for (let view = 0; view < this.views.length; view += 1) {
        if (this.views[view].named === false) continue;
        const words = topicWords(this.data, view, [topic], 3).map(({ name }) => clip(name, 24));
        if (words.length) return words.join(", ");
      }
      return `Topic ${topic}`;
    });
  }

  /** Compute something once and keep it. */
  once(key, make) {
    if (!this.kept.has(key)) this.kept.set(key, make());
    return this.kept.get(key);
  }

  theta(view) {
    const name = view === null ? "theta" : `theta.${view}`;
    const { [`${name}.indptr`]: indptr, [`${name}.topics`]: topics } = this.arrays;
    return { indptr, topics, values: this.arrays[`${name}.values`] };
  }

  has(row, view) {
    return this.arrays.present[row * this.views.length + view] > 0;
  }

  lacking(row) {
    return this.views.map((_, v) => v).filter((v) => !this.has(row, v));
  }

  /** The topics of a document, largest first: [[topic, share], ...]; `group` merges them. */
  mixture(row, view = null, group = null) {
    const { indptr, topics, values } = this.theta(view);
    const shares = new Map();
    let total = 0;
    for (let j = indptr[row]; j < indptr[row + 1]; j += 1) {
      const topic = group ? group[topics[j]] : topics[j];
      const share = values[j] ** 2; // stored as square roots
      shares.set(topic, (shares.get(topic) ?? 0) + share);
      total += share;
    }
    return [...shares].map(([t, s]) => [t, s / total]).sort((x, y) => y[1] - x[1]);
  }

  /** The same as an array of all topics, as the numeric core wants it. */
  dense(row, view = null) {
    const shares = new Float32Array(this.k);
    for (const [topic, share] of this.mixture(row, view)) shares[topic] = share;
    return shares;
  }

  /** The largest topic of each document, -1 where the view is missing. */
  mainTopics(view, group) {
    const { indptr, topics, values } = this.theta(view);
    const main = new Int32Array(this.n).fill(-1);
    for (let row = 0; row < this.n; row += 1) {
      let most = 0;
      for (let j = indptr[row]; j < indptr[row + 1]; j += 1) {
        if (values[j] > most) {
          most = values[j];
          main[row] = group[topics[j]];
        }
      }
    }
    return main;
  }

  /** Where a mixture stands on the map; exact, without the spread. */
  place(pairs) {
    let [x, y, total] = [0, 0, 0];
    for (const [topic, share] of pairs) {
      const weight = share ** WEIGHT;
      x += weight * this.topicXY[2 * topic];
      y += weight * this.topicXY[2 * topic + 1];
      total += weight;
    }
    return total > 0 ? [x / total, y / total] : [NaN, NaN];
  }

  /** Places of all documents by one view (null: all views together), slightly spread. */
  positions(view, layout = "topics") {
    return this.once(`xy ${view} ${layout}`, () =>
      layout === "umap" ? normalized(this.arrays.umap_xy) : this.barycenters(view),
    );
  }

  barycenters(view) {
    const { indptr, topics, values } = this.theta(view);
    const xy = new Float32Array(2 * this.n);
    for (let row = 0; row < this.n; row += 1) {
      let [x, y, total] = [0, 0, 0];
      for (let j = indptr[row]; j < indptr[row + 1]; j += 1) {
        const weight = (values[j] / LEVELS) ** (2 * WEIGHT); // stored as square roots
        x += weight * this.topicXY[2 * topics[j]];
        y += weight * this.topicXY[2 * topics[j] + 1];
        total += weight;
      }
      const [dx, dy] = scatter(row);
      xy[2 * row] = total > 0 ? x / total + dx * this.spread : NaN;
      xy[2 * row + 1] = total > 0 ? y / total + dy * this.spread : NaN;
    }
    return xy;
  }

  /** Documents of a topic, those that it makes up most first: [[row, share], ...]. */
  documentsOf(topic, group, top = 12) {
    const { indptr, topics, values } = this.theta(null);
    const found = [];
    for (let row = 0; row < this.n; row += 1) {
      let share = 0;
      let total = 0;
      for (let j = indptr[row]; j < indptr[row + 1]; j += 1) {
        const part = values[j] ** 2;
        total += part;
        if (group[topics[j]] === topic) share += part;
      }
      if (share > 0) found.push([row, share / total]);
    }
    return found.sort((x, y) => y[1] - x[1] || x[0] - y[0]).slice(0, top);
  }

  /** Rows in the order of an array of numbers, largest first; rows without a number are left out. */
  ranked(name, { ascending = false, keep = () => true } = {}) {
    const values = this.arrays[name];
    if (!values) return [];
    const rows = [];
    for (let row = 0; row < this.n; row += 1) {
      if (Number.isFinite(values[row]) && keep(row)) rows.push(row);
    }
    const sign = ascending ? 1 : -1;
    return rows.sort((x, y) => sign * (values[x] - values[y]) || x - y);
  }

  /** The array of disagreement of two views, in whichever order the payload names them. */
  disagreement(a, b) {
    const names = [`disagreement.${a}.${b}.beyond`, `disagreement.${b}.${a}.beyond`];
    return names.find((name) => name in this.arrays) ?? "disagreement.beyond";
  }

  /** Terms of a document in a view with their counts, the most frequent first. */
  terms(row, view) {
    const indptr = this.arrays[`counts.${view}.indptr`];
    if (!indptr) return [];
    const indices = this.arrays[`counts.${view}.indices`];
    const values = this.arrays[`counts.${view}.values`];
    const terms = [];
    for (let j = indptr[row]; j < indptr[row + 1]; j += 1) terms.push([indices[j], values[j]]);
    return terms.sort((x, y) => y[1] - x[1] || x[0] - y[0]);
  }

  phi(view, topic, term) {
    const width = this.views[view].n_terms;
    const scale = this.arrays[`phi.${view}.scale`][term];
    return (this.arrays[`phi.${view}.values`][topic * width + term] / LEVELS) ** 2 * scale;
  }

  /** Which topic of a mixture a term most likely comes from, or -1. */
  topicOfTerm(pairs, view, term) {
    let best = -1;
    let most = 0;
    for (const [topic, share] of pairs) {
      const weight = share * this.phi(view, topic, term);
      if (weight > most) {
        most = weight;
        best = topic;
      }
    }
    return best;
  }

  /** What a word calls for in the other views, in one line for each; "" where nothing is known. */
  calls(view, term) {
    const lines = callsFor(this.data, view, term).map(({ view: other, words }) =>
      `${clip(this.views[other].name, 30)}: ${words.map(([name, p]) => `${clip(name, 30)} ${percent(p)}`).join(", ")}`);
    return lines.length ? `${clip(this.term(view, term), 40)} calls for\n${lines.join("\n")}` : "";
  }

  term(view, index) {
    return this.views[view].terms?.[index] ?? `${this.views[view].name} ${index}`;
  }

  snippet(row, view) {
    const all = this.docs.snippets ?? {};
    return (all[this.views[view].name] ?? all[view])?.[row] ?? null;
  }

  picture(row, view) {
    const all = this.docs.pictures ?? {};
    const uri = (all[this.views[view].name] ?? all[view])?.[row] ?? null;
    return typeof uri === "string" && uri.startsWith("data:image/") ? uri : null;
  }

  /** What a document is called: its title, its id, its number. */
  title(row, length = 90) {
    return clip(this.docs.titles?.[row] || this.docs.ids?.[row] || `Document ${row}`, length);
  }

  /** The start of a document's text in a view; without a view of texts, in the first one that it has. */
  said(row, view = null, length = 140) {
    const isText = (v) => this.views[v]?.kind === "text";
    const wanted = view !== null && isText(view) ? [view] : [...this.views.keys()].filter(isText);
    const text = wanted.map((v) => this.snippet(row, v)).find((found) => found?.trim());
    return text ? clip(text.trim().replace(/\s+/g, " "), length) : "";
  }

  labelOf(row) {
    const number = this.docs.labels?.[row] ?? -1;
    return number >= 0 ? (this.docs.label_names?.[number] ?? null) : null;
  }
}
