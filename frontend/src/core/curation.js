// What a person says about topics: names, merges, hidden ones; as JSON for model.with_topics.
//
// A curation is {names: {topic: name}, merge: [[first, others...]], hide: [topics]}, never changed in
// place, so that undo is the one before.

export const EMPTY = Object.freeze({ names: {}, merge: [], hide: [] });

/** Name a topic; an empty name takes the name away. */
export function rename(curation, topic, name) {
  const names = { ...curation.names };
  const clean = name.trim();
  if (clean) names[topic] = clean;
  else delete names[topic];
  return { ...curation, names };
}

/** Merge topics; groups that share a topic become one, each begins with its lowest topic. */
export function merge(curation, topics) {
  let joined = new Set(topics);
  const apart = [];
  for (const group of curation.merge) {
    if (group.some((z) => joined.has(z))) joined = new Set([...joined, ...group]);
    else apart.push(group);
  }
  if (joined.size < 2) return curation;
  const group = Array.from(joined).sort((a, b) => a - b);
  return { ...curation, merge: [...apart, group].sort((a, b) => a[0] - b[0]) };
}

/** Take a group of merged topics apart again. */
export function split(curation, topic) {
  return { ...curation, merge: curation.merge.filter((group) => !group.includes(topic)) };
}

/** Hide a topic, or show it again. */
export function hide(curation, topic, hidden = true) {
  const others = curation.hide.filter((z) => z !== topic);
  return { ...curation, hide: hidden ? [...others, topic].sort((a, b) => a - b) : others };
}

/** Return the topic that each topic is shown as: the first of its group, or itself. */
export function groupOf(curation, nTopics) {
  const out = Int32Array.from({ length: nTopics }, (_, z) => z);
  for (const group of curation.merge) for (const z of group) out[z] = Math.min(...group);
  return out;
}

/** Return the names of topics that Python would refuse, since another topic has them: [[a, b, name]]. */
export function collisions(curation, originals) {
  const group = groupOf(curation, originals.length);
  const first = new Map();
  const found = [];
  for (let z = 0; z < originals.length; z++) {
    if (group[z] !== z) continue;
    const name = curation.names[z] ?? originals[z];
    if (name === null || name === undefined) continue;
    if (first.has(name)) found.push([first.get(name), z, name]);
    else first.set(name, z);
  }
  return found;
}

/** Return a mixture with the shares of merged topics at the first of their group. */
export function mergeMixture(curation, mixture) {
  const group = groupOf(curation, mixture.length);
  const out = new Float32Array(mixture.length);
  for (let z = 0; z < mixture.length; z++) out[group[z]] += mixture[z];
  return out;
}

/** Return the JSON of a curation, as `model.with_topics` reads it. */
export function toJSON(data, curation) {
  const { names, merge: merged, hide: hidden } = curation;
  const model = data.meta.model.fingerprint;
  return JSON.stringify({ coview_curation: 1, model, names, merge: merged, hide: hidden }, null, 1);
}

/** Read such JSON; an Error says what is wrong with it. */
export function fromJSON(data, text) {
  let read;
  try {
    read = JSON.parse(text);
  } catch {
    throw new Error("This is not JSON.");
  }
  if (read?.coview_curation !== 1) throw new Error("This is no curation of topics.");
  if (read.model !== data.meta.model.fingerprint) {
    throw new Error("This curation belongs to another model.");
  }
  const fits = (z) => Number.isInteger(z) && z >= 0 && z < data.meta.n_topics;
  let curation = EMPTY;
  for (const [z, name] of Object.entries(read.names ?? {})) {
    if (!fits(Number(z)) || typeof name !== "string") throw new Error(`There is no topic ${z}.`);
    curation = rename(curation, Number(z), name);
  }
  for (const group of read.merge ?? []) {
    if (!Array.isArray(group) || !group.every(fits)) throw new Error("A merge names no topics.");
    curation = merge(curation, group);
  }
  for (const z of read.hide ?? []) {
    if (!fits(z)) throw new Error(`There is no topic ${z}.`);
    curation = hide(curation, z);
  }
  return curation;
}
