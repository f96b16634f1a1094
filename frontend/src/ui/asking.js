// The question that is asked (typed words or a document) and its answers.

import { computed, effect, signal } from "@preact/signals";

import { leftOut } from "../core/leftout.js";
import { search } from "../core/search.js";
import { corpus, group, state } from "./store.js";

const TOP = 50;
const MOST = 1000; // answers that a server gives at most
const PAUSE = 120; // milliseconds without a key before a server is asked
const NOTHING = { list: [], asked: false, leftOut: "", reason: null, mixture: null, ms: 0 };

export const answers = signal(NOTHING);

const lastView = () => corpus.value.views.length - 1;
export const askView = computed(() => Math.min(state.ask.value, lastView()));
/** The number of the view that answers; one more than the last: all views together. */
export const answerView = computed(() => Math.min(state.answer.value, lastView() + 1));

/** The topics of the question, [[topic, share], ...], or null. */
export const queryMixture = computed(() => {
  const { mixture, asked } = answers.value;
  if (!mixture || !asked || state.like.value !== null) return null;
  return [...mixture].map((share, topic) => [topic, share]).filter(([, share]) => share > 0);
});

/** Which documents may answer; null when all may. */
export const filter = computed(() => {
  const { label, within, lacks } = state;
  const { docs } = corpus.value;
  const tests = [];
  if (label.value !== null && docs.labels) tests.push((row) => docs.labels[row] === label.value);
  if (within.value !== null && within.value < corpus.value.k) {
    const main = corpus.value.mainTopics(null, group.value);
    const wanted = group.value[within.value];
    tests.push((row) => main[row] === wanted);
  }
  if (lacks.value !== null && lacks.value <= lastView()) tests.push((row) => !corpus.value.has(row, lacks.value));
  return tests.length ? (row) => tests.every((test) => test(row)) : null;
});

/** Answers computed in the page. */
function local(query, answer) {
  const { data, views } = corpus.value;
  const found = search(data, {
    askView: askView.value,
    query,
    answerView: answer >= views.length ? null : answer,
    filter: filter.value ?? undefined,
    top: TOP,
  });
  const words = query.text !== undefined && views[askView.value].recipe ? leftOut(data, askView.value, query.text) : "";
  return { ...NOTHING, list: found.hits, asked: true, leftOut: words, reason: found.reason ?? null, mixture: found.mixture };
}

let latest = 0;

/** Answers of the server that the page came from. */
async function remote(query, answer, number) {
  const { views, n } = corpus.value;
  const names = views.map((view) => view.name);
  const keep = filter.value;
  const body = { ask: { view: names[askView.value], ...query }, answer: names[answer] ?? null, top: keep ? Math.min(n, MOST) : TOP };
  await new Promise((done) => setTimeout(done, PAUSE));
  if (number !== latest) return;
  try {
    const response = await fetch("search", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    if (number === latest) take(await response.json(), keep);
  } catch {
    answers.value = { ...NOTHING, asked: true, reason: "The server does not answer any more." };
  }
}

function take(found, keep) {
  const hits = (found.hits ?? []).filter(({ row }) => !keep || keep(row)).slice(0, TOP);
  answers.value = { ...NOTHING, list: hits, asked: true, leftOut: found.left_out ?? "", reason: found.reason ?? found.error ?? null, mixture: found.mixture ?? null };
}

/** Ask the server with a picture. */
export async function askPicture(file) {
  const { views } = corpus.value;
  const params = new URLSearchParams({ view: views[askView.value].name, top: String(TOP) });
  if (views[answerView.value]) params.set("answer", views[answerView.value].name);
  latest += 1;
  try {
    const response = await fetch(`picture?${params}`, { method: "POST", body: file });
    take(await response.json(), filter.value);
  } catch {
    answers.value = { ...NOTHING, asked: true, reason: "The server does not answer any more." };
  }
}

/** Whether the page lacks what an answer needs: words of documents, or a way to split texts. */
function needsServer(query) {
  const { server, meta, views } = corpus.value;
  return server && (!meta.search.complete || (query.text !== undefined && !views[askView.value].recipe));
}

/** Answer whenever the question, the views or the filters change. */
export function followQuestion() {
  effect(() => {
    const text = state.q.value.trim();
    const like = state.like.value;
    const answer = answerView.value;
    void [askView.value, filter.value];
    latest += 1;
    if (like === null && !text) {
      answers.value = NOTHING;
      return;
    }
    const query = like !== null && like < corpus.value.n ? { row: like } : { text };
    if (needsServer(query)) remote(query, answer, latest);
    else {
      const before = performance.now();
      answers.value = { ...local(query, answer), ms: performance.now() - before };
    }
  });
}
