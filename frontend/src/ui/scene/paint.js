// Which color each document has on the map, and what the colors mean.

import { computed } from "@preact/signals";

import { DARK, GRAY, LIGHT, N_COLORS, PAPER, pixel, ramp } from "../colors.js";
import { corpus, dark, focused, group, hidden, level, shownTopic, slots, state, topics } from "../store.js";

const theme = computed(() => (dark.value ? "dark" : "light"));
const hues = computed(() => (dark.value ? DARK : LIGHT));
const STEPS = 5;

const mainTopics = computed(() => corpus.value.mainTopics(null, group.value));

/** Color 0 is gray, 1 to 8 are the hues: of a level of the tree, or of the topics in focus. */
function byTopic() {
  const main = mainTopics.value;
  const color = new Uint8Array(corpus.value.k);
  const only = !focused.value && state.panel.value === "topic" ? shownTopic.value : null;
  for (const [topic, slot] of slots.value) if (only === null || topic === only) color[topic] = slot + 1;
  const colors = Uint8Array.from(main, (topic) => (topic >= 0 ? color[topic] : 0));
  const byLevel = only === null && !focused.value && level.value;
  const legend = only !== null ? [{ color: color[only], topic: only }] : byLevel ? levelLegend() : topicLegend();
  const rest = topics.value.length - (only !== null ? 1 : slots.value.size);
  if (rest > 0) legend.push({ color: 0, text: `${rest} other topic${rest === 1 ? "" : "s"}` });
  return { colors, palette: [GRAY[theme.value], ...hues.value], legend };
}

const topicLegend = () => [...slots.value].map(([topic, slot]) => ({ color: slot + 1, topic }));

/** One entry for each topic of the level, as the command line numbers and names it. */
function levelLegend() {
  const entries = new Map();
  for (const { topic } of topics.value) {
    const slot = slots.value.get(topic);
    if (slot === undefined) continue;
    if (entries.has(slot)) entries.get(slot).n += 1;
    else entries.set(slot, { color: slot + 1, part: slot, topic, n: 1 });
  }
  return [...entries.values()].sort((x, y) => x.part - y.part);
}

/** The eight most frequent labels and the rest. */
function byLabel() {
  const { labels, label_names: names } = corpus.value.docs;
  const sizes = new Map();
  for (const label of labels) if (label >= 0) sizes.set(label, (sizes.get(label) ?? 0) + 1);
  const frequent = [...sizes].sort((x, y) => y[1] - x[1] || x[0] - y[0]).slice(0, N_COLORS);
  const color = new Map(frequent.map(([label], i) => [label, i + 1]));
  const legend = frequent.map(([label], i) => ({ color: i + 1, text: names[label] }));
  legend.push({ color: 0, text: sizes.size > N_COLORS ? "other or no label" : "no label" });
  return { colors: Uint8Array.from(labels, (label) => color.get(label) ?? 0), palette: [GRAY[theme.value], ...hues.value], legend };
}

/** Steps of one hue: how much the views disagree, beyond chance. */
function byDisagreement() {
  const values = corpus.value.arrays["disagreement.beyond"];
  const known = values.filter(Number.isFinite).sort();
  const bounds = [0.5, 0.75, 0.9, 0.97].map((q) => known[Math.floor(q * (known.length - 1))] ?? 0);
  const step = (x) => (Number.isFinite(x) ? 1 + bounds.filter((bound) => x > bound).length : 0);
  const legend = ["lower half", "above the median", "top quarter", "top tenth", "top 3%"].map((text, i) => ({ color: i + 1, text }));
  legend.push({ color: 0, text: "fewer than two views" });
  const shades = ramp(dark.value ? "#39424e" : "#d9dee5", hues.value[1], STEPS);
  return { colors: Uint8Array.from(values, step), palette: [GRAY[theme.value], ...shades], legend };
}

/** One hue for each view that is missing. */
function byMissing() {
  const { n, views } = corpus.value;
  const colors = new Uint8Array(n);
  for (let row = 0; row < n; row += 1) {
    const lacking = corpus.value.lacking(row);
    if (lacking.length) colors[row] = 1 + Math.min(lacking[0], N_COLORS - 1);
  }
  const legend = views.slice(0, N_COLORS).map((view, v) => ({ color: v + 1, text: `lacks ${view.name}` }));
  legend.push({ color: 0, text: "has every view" });
  return { colors, palette: [GRAY[theme.value], ...hues.value], legend };
}

/** Ways to color that the data allow. */
export const paints = computed(() => {
  const ways = [["topic", "Topic"]];
  if (corpus.value.docs.labels && corpus.value.docs.label_names?.length) ways.push(["label", "Label"]);
  if (corpus.value.arrays["disagreement.beyond"]) ways.push(["disagree", "Disagreement"]);
  if (corpus.value.views.length > 1) ways.push(["missing", "Missing view"]);
  return ways;
});

/** `{colors, palette, pixels, legend, paper}` for all documents. */
export const paint = computed(() => {
  const way = paints.value.some(([key]) => key === state.color.value) ? state.color.value : "topic";
  const made = { topic: byTopic, label: byLabel, disagree: byDisagreement, missing: byMissing }[way]();
  return { ...made, way, pixels: Uint32Array.from(made.palette, pixel), paper: PAPER[theme.value] };
});

/** Largest topics with their places: the labels that are wanted on the map. */
export const topicLabels = computed(() =>
  topics.value
    .filter(({ topic }) => !hidden.value.has(topic))
    .slice(0, 300)
    .map((row) => ({ ...row, at: placeOf(row.members) })),
);

/** Merged topics have their name at the largest of them. */
function placeOf(members) {
  const { topicXY, topics: all } = corpus.value;
  const largest = members.reduce((best, t) => (all[t].size > all[best].size ? t : best));
  return [topicXY[2 * largest], topicXY[2 * largest + 1]];
}
