// The state of the page as signals, what follows from it, and the actions that change it.

import { batch, computed, effect, signal } from "@preact/signals";

import { EMPTY, fromJSON, groupOf, hide } from "../core/curation.js";
import { assign, coloredLevel, levelSlots, N_COLORS } from "./colors.js";
import { decode, encode, FIELDS } from "./hash.js";

/** One signal for each field of the hash. */
export const state = Object.fromEntries(
  Object.entries(FIELDS).map(([name, [, first]]) => [name, signal(first)]),
);
export const corpus = signal(null);
export const hovered = signal(-1);
export const systemDark = signal(false);
export const history_ = signal([]); // curations to go back to

export const dark = computed(() =>
  state.theme.value === "auto" ? systemDark.value : state.theme.value === "dark",
);

/** What the model says already: topics that were hidden before. */
const first = computed(() =>
  corpus.value.topics.reduce((found, topic, t) => (topic.hidden ? hide(found, t) : found), EMPTY),
);

/** Names, merges and hidden topics; what a link says of them is checked like a file. */
export const curation = computed(() => {
  const said = state.curation.value;
  if (!said) return first.value;
  const { data } = corpus.value;
  try {
    return fromJSON(data, JSON.stringify({ ...said, coview_curation: 1, model: data.meta.model.fingerprint }));
  } catch {
    return first.value;
  }
});

/** Which topic each topic counts as: merged ones count as the first of their group. */
export const group = computed(() => groupOf(curation.value, corpus.value.k));
export const hidden = computed(() => new Set(curation.value.hide.map((t) => group.value[t] ?? t)));

export function nameOf(topic) {
  return curation.value.names[topic] ?? corpus.value.topicName(topic);
}

/** Topics as the page shows them, largest first, merged ones added up, hidden ones left out. */
export const topics = computed(() => {
  const { topics: all, views } = corpus.value;
  const rows = new Map();
  all.forEach((topic, t) => {
    const first = group.value[t];
    const row = rows.get(first) ?? { topic: first, size: 0, members: [], share: views.map(() => 0), agreement: 0, known: 0 };
    row.members.push(t);
    row.size += topic.size;
    views.forEach((view, v) => {
      row.share[v] += (topic.view_share?.[view.name] ?? NaN) * topic.size;
    });
    if (Number.isFinite(topic.agreement)) {
      row.agreement += topic.agreement * topic.size;
      row.known += topic.size;
    }
    rows.set(first, row);
  });
  return [...rows.values()]
    .filter((row) => !hidden.value.has(row.topic))
    .map(({ known, ...row }) => ({
      ...row,
      name: nameOf(row.topic),
      agreement: known > 0 ? row.agreement / known : NaN,
      share: row.share.map((x) => (row.size > 0 ? x / row.size : NaN)),
    }))
    .sort((x, y) => y.size - x.size || x.topic - y.topic);
});

/** The topic in whose group a topic is, if it is shown. */
export const shownTopic = computed(() =>
  state.topic.value === null || state.topic.value >= corpus.value.k ? null : group.value[state.topic.value],
);
export const shownDoc = computed(() =>
  state.doc.value === null || state.doc.value >= corpus.value.n ? null : state.doc.value,
);

/** Topics of the documents or topics that are looked at: each gets a color of its own. */
const focus = computed(() => {
  const wanted = [];
  const add = (topic) => {
    if (!wanted.includes(topic) && !hidden.value.has(topic)) wanted.push(topic);
  };
  const addDocument = (row) => {
    for (const view of [null, ...corpus.value.views.keys()]) {
      corpus.value.mixture(row, view, group.value).slice(0, 4).forEach(([t, s]) => s > 0.05 && add(t));
    }
  };
  if (state.panel.value === "document" && shownDoc.value !== null) addDocument(shownDoc.value);
  if (state.panel.value === "compare") {
    for (const [kind, number] of compared.value) kind === "t" ? add(group.value[number]) : addDocument(number);
  }
  return wanted.slice(0, N_COLORS);
});

/** The level of the model's tree by which topics are listed and colored while nothing is in focus. */
export const level = computed(() => coloredLevel(corpus.value.levels, topics.value.length));
export const focused = computed(() => focus.value.length > 0);

let lastSlots = new Map();
/** Map from topic to its color from 0 to 7; other topics are gray. */
export const slots = computed(() => {
  if (!focused.value) return levelSlots(level.value, topics.value.map(({ topic }) => topic));
  lastSlots = assign(focus.value, lastSlots);
  return lastSlots;
});

/** What stands in Compare: [["t", 3], ["t", 7]]. */
export const compared = computed(() =>
  state.compare.value
    .map((text) => [text[0], Number(text.slice(1))])
    .filter(([kind, number]) => number < (kind === "t" ? corpus.value.k : corpus.value.n)),
);

export const pair = computed(() => {
  const last = corpus.value.views.length - 1;
  const a = Math.min(state.a.value, last);
  const b = Math.min(state.b.value, last);
  return a === b ? [a, a === last ? Math.max(0, last - 1) : last] : [a, b];
});

// ---- actions ----

export const openTopic = (topic) =>
  batch(() => {
    state.topic.value = topic;
    state.panel.value = "topic";
    state.tab.value = "read";
  });

export const openDocument = (row) =>
  batch(() => {
    state.doc.value = row;
    state.panel.value = "document";
    state.tab.value = "read";
  });

/** Put a topic ("t3") or a document ("d9") beside what is compared; two of one kind at most. */
export const compareWith = (thing) =>
  batch(() => {
    const others = state.compare.value.filter((x) => x[0] === thing[0] && x !== thing);
    state.compare.value = [...others.slice(-1), thing];
    state.panel.value = "compare";
    state.tab.value = "read";
  });

/** Change the curation; what it was can be brought back. */
export const curate = (next) =>
  batch(() => {
    history_.value = [...history_.value.slice(-99), state.curation.value];
    state.curation.value = next;
  });

export const undo = () =>
  batch(() => {
    if (history_.value.length === 0) return;
    const before = history_.value.at(-1);
    history_.value = history_.value.slice(0, -1);
    state.curation.value = before;
  });

export const askLike = (row) =>
  batch(() => {
    state.q.value = "";
    state.like.value = row;
    state.side.value = "results";
    state.tab.value = "find";
    const own = corpus.value.views.findIndex((_, v) => corpus.value.has(row, v));
    if (!corpus.value.has(row, state.ask.value)) state.ask.value = Math.max(0, own);
  });

// ---- the hash ----

const snapshot = () => Object.fromEntries(Object.entries(state).map(([name, s]) => [name, s.value]));
const STEPS = ["mode", "panel", "topic", "doc", "compare", "list", "cell", "like"]; // "back" undoes these

function restore() {
  const next = decode(location.hash);
  batch(() => {
    for (const [name, s] of Object.entries(state)) {
      if (JSON.stringify(s.peek()) !== JSON.stringify(next[name])) s.value = next[name];
    }
  });
}

/** Read the hash now and whenever it changes; write it when the state does. */
export function followHash() {
  restore();
  addEventListener("hashchange", restore);
  addEventListener("popstate", restore);
  let steps = null;
  let timer = 0;
  const write = () => {
    const hash = encode(snapshot());
    const now = JSON.stringify(STEPS.map((name) => state[name].peek()));
    const step = steps !== null && now !== steps;
    steps = now;
    if (hash === location.hash.slice(1)) return;
    try {
      const url = hash ? `#${hash}` : location.pathname + location.search;
      history[step ? "pushState" : "replaceState"](null, "", url);
    } catch {
      // a frame without an address of its own (a notebook's) keeps no link
    }
  };
  effect(() => {
    Object.values(state).forEach((s) => s.value);
    clearTimeout(timer);
    timer = setTimeout(write, steps === null ? 0 : 150); // browsers refuse hundreds a second
  });
}
