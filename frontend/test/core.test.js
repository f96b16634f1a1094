// The numeric core without data of Python's; that it computes what Python does is tested from there
// (tests/explorer/test_same_answers.py).

import assert from "node:assert/strict";
import test from "node:test";

import * as curation from "../src/core/curation.js";
import { countsOf, halves, mainTopics, mixture, topics, unpack } from "../src/core/decode.js";
import { foldIn } from "../src/core/foldin.js";
import { crc32, leftOut } from "../src/core/leftout.js";
import { place, places } from "../src/core/map.js";
import { predictTerms } from "../src/core/predict.js";
import { callsFor, noWords, topicWords } from "../src/core/words.js";
import { search } from "../src/core/search.js";

const root = (p) => Math.round(Math.sqrt(p) * 65535);

/** Two views, three topics, four documents; the last one lacks the second view. */
function smallData() {
  const view = (name) => ({
    name,
    n_terms: 4,
    terms: ["ball", "goal", "vote", "law"],
    recipe: {
      kind: "text",
      analyzer: "word",
      lowercase: true,
      strip_accents: null,
      ngrams: [1, 1],
      stop_words: [],
      split: "words",
      binary: false,
      tfidf: null,
    },
    weight: 1,
  });
  const phi = [0.6, 0.4, 0, 0, 0, 0, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25];
  const theta = { indptr: [0, 1, 2, 4, 5], topics: [0, 1, 0, 1, 0], values: [1, 1, 0.5, 0.5, 1] };
  const arrays = {
    topic_xy: Float32Array.from([-1, 0, 1, 0, 0, 1]),
    "counts.0.indptr": Uint32Array.from([0, 2, 4, 6, 7]),
    "counts.0.indices": Uint16Array.from([0, 1, 2, 3, 0, 2, 1]),
    "counts.0.values": Uint8Array.from([3, 1, 2, 2, 1, 1, 4]),
    "counts.1.indptr": Uint32Array.from([0, 1, 2, 4, 4]),
    "counts.1.indices": Uint16Array.from([0, 3, 1, 2]),
    "counts.1.values": Uint8Array.from([1, 2, 1, 1]),
  };
  for (const name of ["theta", "theta.0", "theta.1"]) {
    const last = name === "theta.1" ? 4 : 5;
    arrays[`${name}.indptr`] = Uint32Array.from([...theta.indptr.slice(0, 4), last]);
    arrays[`${name}.topics`] = Uint16Array.from(theta.topics);
    arrays[`${name}.values`] = Uint16Array.from(theta.values.map(root));
  }
  for (const v of [0, 1]) {
    arrays[`phi.${v}.values`] = Uint16Array.from(phi.map(root));
    arrays[`phi.${v}.scale`] = Float32Array.from([1, 1, 1, 1]);
    arrays[`term_share.${v}`] = Float32Array.from([0.3, 0.3, 0.2, 0.2]);
    arrays[`damped_share.${v}`] = Float32Array.from([0.3, 0.3, 0.2, 0.2]);
    arrays[`table.${v}.${1 - v}.indptr`] = Uint32Array.from([0, 1, 3, 4, 5]);
    arrays[`table.${v}.${1 - v}.indices`] = Uint16Array.from([0, 0, 1, 3, 2]);
    arrays[`table.${v}.${1 - v}.values`] = Float32Array.from([1, 0.25, 0.75, 1, 1]);
    arrays[`names.${v}.${1 - v}.indices`] = Uint32Array.from([1, 1]);
    arrays[`words.${v}.indptr`] = Uint32Array.from([0, 2, 4, 4]);
    arrays[`words.${v}.terms`] = Uint16Array.from([0, 1, 2, 1]);
    arrays[`words.${v}.documents`] = Float32Array.from([6, 3, 3, 6]);
    arrays[`words.${v}.scores`] = Float32Array.from([2, 1, 1.5, 2]);
  }
  const meta = {
    n_docs: 4,
    n_topics: 3,
    views: [view("en"), view("de")],
    topics: [[4, 4], [4, 1004], [1, 61]].map((counts) => ({ view_documents: { en: counts, de: counts } })),
    model: { fingerprint: "f" },
    search: {
      answer: [0, 1],
      weights: { "0.0": [1, 0, 5, 0], "1.1": [1, 0, 5, 0], "0.1": [1, 1, 5, 0], "1.0": [1, 1, 0, 0] },
      prior: 1,
      max_iter: 200,
      tol: 1e-4,
      tiny: 1e-18,
    },
  };
  return { meta, arrays };
}

test("mixtures, their main topics, and documents that lack a view", () => {
  const data = smallData();
  assert.deepEqual(Array.from(mixture(data, null, 2), (p) => Math.round(p * 100)), [50, 50, 0]);
  assert.deepEqual(Array.from(mainTopics(data, 1)), [0, 1, 0, -1]);
  assert.deepEqual(countsOf(data, 0, 3), { terms: [1], values: [4] });
  assert.ok(Math.abs(topics(data, 0).subarray(0, 4).reduce((a, b) => a + b) - 1) < 1e-4);
});

test("folding in finds the topic of a word, and is uniform without any", () => {
  const data = smallData();
  const found = foldIn(data, 0, { terms: [0], values: [3] });
  assert.ok(found[0] > 0.99);
  assert.deepEqual(Array.from(foldIn(data, 0, { terms: [], values: [] })), Array(3).fill(Math.fround(1 / 3)));
});

test("a prior below 1 leaves the largest topic", () => {
  const data = smallData();
  data.meta.search.prior = 0.1;
  assert.deepEqual(Array.from(foldIn(data, 0, { terms: [0], values: [0.5] })), [1, 0, 0]);
});

test("words that are not known: why", () => {
  const data = smallData();
  assert.equal(crc32(new TextEncoder().encode("123456789")), 0xcbf43926);
  assert.equal(leftOut(data, 0, "Ball goal"), "");
  assert.equal(leftOut(data, 0, "Moth ball moth"), "'moth' is not in the vocabulary");
  const hashes = ["moth", "and"].map((word) => crc32(new TextEncoder().encode(word)));
  data.arrays["leftout.0.indices"] = Uint32Array.from(hashes);
  data.arrays["leftout.0.values"] = Uint32Array.from([1, 9]);
  data.meta.views[0].left_out = { documents: 10, min: 2, max: 5, complete: true, options: ["--max-df", "--min-df", "--max-features"] };
  assert.equal(
    leftOut(data, 0, "moth and ball zebra"),
    "'moth' is too rare (in 1 document; --min-df), 'and' is too common (in 90 % of the documents; --max-df), 'zebra' is in no document of training",
  );
  assert.match(leftOut(data, 0, "aa bb cc dd ee ff gg"), /, and 2 more$/);
});

test("search: the best first, with reasons; never the row that asks; filters", () => {
  const data = smallData();
  const found = search(data, { askView: 0, query: { text: "Ball ball unknown" }, answerView: 1 });
  assert.equal(found.hits[0].row, 0);
  assert.equal(found.hits.length, 3); // the last document lacks the view
  assert.deepEqual(found.unknown, ["unknown"]);
  const [topic, word] = ["topics", "translation"].map((kind) => found.hits[0].why.find((one) => one.kind === kind));
  assert.equal(topic.topic, 0);
  assert.deepEqual(word.calls[0].slice(0, 2), ["ball", ["ball"]]);
  assert.ok(Math.abs(topic.share + word.share - 1) < 1e-9);
  const own = search(data, { askView: 0, query: { row: 0 }, answerView: 0 });
  assert.ok(own.hits.every(({ row }) => row !== 0));
  const some = search(data, { askView: 0, query: { text: "vote" }, filter: (row) => row > 1 });
  assert.deepEqual(some.hits.map(({ row }) => row).sort(), [2, 3]);
  const all = search(data, { askView: 0, query: { text: "vote" } }).hits;
  assert.ok(Math.abs(all.reduce((sum, { score }) => sum + score, 0) - 1) < 1e-9); // probabilities
  for (const { row, score } of some.hits) assert.equal(score, all.find((hit) => hit.row === row).score);
  assert.equal(search(data, { askView: 0, query: { text: "vote" }, top: 1 }).hits.length, 1);
});

test("search: by hand, by the words that an answer has and those that call for the query", () => {
  const data = smallData();
  const { hits } = search(data, { askView: 1, query: { text: "goal" }, answerView: 0 });
  // log(1 + f / p) of the same name, and log(1 + t f / p) of what calls for it; p = 0.3
  const shares = [Math.log(2) / (Math.log(2) + Math.log(4)), 0, 0, 1];
  const odds = shares.map((f) => (1 + f / 0.3) * (1 + (0.75 * f) / 0.3));
  const total = odds.reduce((sum, x) => sum + x, 0);
  assert.deepEqual(hits.map(({ row }) => row), [3, 0, 1, 2]);
  for (const { row, score } of hits) assert.ok(Math.abs(score - odds[row] / total) < 1e-6);
  assert.deepEqual(hits[2].why, []); // without evidence
});

test("what a word calls for in the other views", () => {
  assert.deepEqual(callsFor(smallData(), 0, 1), [{ view: 1, words: [["goal", 0.75], ["ball", 0.25]] }]);
});

test("half precision", () => {
  assert.deepEqual(Array.from(halves(Uint16Array.from([0x3c00, 0xc000, 0x0001, 0x3555]))), [1, -2, 2 ** -24, 0.333251953125]);
});

test("search: what cannot be asked has a reason", () => {
  const data = smallData();
  assert.match(search(data, { askView: 0, query: { text: "nothing" } }).reason, /knows nothing/);
  assert.match(search(data, { askView: 1, query: { row: 3 } }).reason, /nothing to search with/);
  data.meta.views[0].recipe = null;
  data.meta.views[0].no_recipe = "it has numbers";
  assert.match(search(data, { askView: 0, query: { text: "vote" } }).reason, /it has numbers/);
});

test("places are barycenters, and NaN without the view", () => {
  const data = smallData();
  assert.deepEqual(place(data, [1, 0, 0]), [-1, 0]);
  assert.deepEqual(place(data, [0.5, 0.5, 0]), [0, 0]);
  assert.deepEqual(place(data, [0, 0, 0]), [0, 0]);
  assert.ok(Number.isNaN(places(data, 1)[6]));
});

test("words of topics, of merged ones too, or why there are none", () => {
  const data = smallData();
  const names = (members, n) => topicWords(data, 0, members, n).map(({ name }) => name);
  assert.deepEqual(names([0]), ["ball", "goal"]);
  assert.deepEqual(names([0, 1]), ["goal", "ball", "vote"]); // 1 + 2, 2, 2.5: goal is in both
  assert.deepEqual(names([0, 1], 1), ["goal"]);
  assert.deepEqual(names([2]), []);
  assert.equal(noWords(data, 0, [2]), "— (1 of 61 documents has it)");
  assert.equal(noWords(data, 0, [1, 2]), "— (5 of 1,065 documents have it)");
});

test("terms by prediction", () => {
  const data = smallData();
  assert.deepEqual(predictTerms(data, [0, 1, 0], 1, 9).map(({ name }) => name), ["vote", "law"]);
  const usual = data.arrays["term_share.1"];
  for (const { term, p } of predictTerms(data, [0, 1, 0], 1, 9, 0)) assert.ok(Math.abs(p - usual[term]) < 1e-6);
});

test("curation: names, merges, hidden topics, and back from JSON", () => {
  const data = smallData();
  let made = curation.rename(curation.EMPTY, 0, "  Sports ");
  made = curation.merge(curation.merge(made, [2, 1]), [2, 0]);
  made = curation.hide(made, 1);
  assert.deepEqual(made, { names: { 0: "Sports" }, merge: [[0, 1, 2]], hide: [1] });
  assert.deepEqual(curation.fromJSON(data, curation.toJSON(data, made)), made);
  assert.deepEqual(Array.from(curation.mergeMixture(made, [0.5, 0.25, 0.25])), [1, 0, 0]);
  assert.deepEqual(curation.split(made, 2).merge, []);
  assert.deepEqual(curation.rename(made, 0, "").names, {});
  const two = curation.rename(curation.rename(curation.EMPTY, 0, "a"), 2, "a");
  assert.deepEqual(curation.collisions(two, [null, null, null]), [[0, 2, "a"]]);
  const other = JSON.stringify({ coview_curation: 1, model: "g" });
  assert.throws(() => curation.fromJSON(data, other), /another model/);
  assert.throws(() => curation.fromJSON(data, "{"), /not JSON/);
  const wrong = JSON.stringify({ coview_curation: 1, model: "f", hide: [9] });
  assert.throws(() => curation.fromJSON(data, wrong), /no topic 9/);
});

test("the container: planes, differences that wrap around, text that is no ASCII", () => {
  const header = {
    meta: { title: "é</script>" },
    arrays: { "a.indices": { dtype: "u2", shape: [3], offset: 0, coding: "delta planes" } },
  };
  let text = JSON.stringify(header);
  while ((new TextEncoder().encode(text).length + 4) % 8) text += " ";
  const bytes = new TextEncoder().encode(text);
  const all = new Uint8Array(4 + bytes.length + 8);
  new DataView(all.buffer).setUint32(0, bytes.length, true);
  all.set(bytes, 4);
  all.set([5, 255, 2, 0, 255, 0], 4 + bytes.length); // 5, then -1, then 2
  const data = unpack(all);
  assert.deepEqual(Array.from(data.arrays["a.indices"]), [5, 4, 6]);
  assert.equal(data.meta.title, "é</script>");
});
