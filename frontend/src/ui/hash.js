// The state of the page as the text after `#`, and back: a link leads to what its sender saw.

const oneOf = (...allowed) => ({ read: (text) => (allowed.includes(text) ? text : undefined) });
const whole = {
  read: (text) => (/^\d{1,9}$/.test(text) ? Number(text) : undefined),
};
const text = { read: (value) => value };
const numbers = (n) => ({
  read: (value) => {
    const parts = value.split(",").map(Number);
    return parts.length === n && parts.every(Number.isFinite) ? parts : undefined;
  },
  write: (value) => value.map((x) => String(Number(x.toPrecision(5)))).join(","),
});
const things = {
  // two topics or two documents: t3,t7
  read: (value) => (/^[td]\d{1,9}(,[td]\d{1,9})?$/.test(value) ? value.split(",") : undefined),
  write: (value) => value.join(","),
};
const json = {
  read: (value) => {
    try {
      const parsed = JSON.parse(value);
      return parsed && typeof parsed === "object" ? parsed : undefined;
    } catch {
      return undefined;
    }
  },
  write: JSON.stringify,
};

/** What can stand in a link: the name of each part, what it is at first, how it is read. */
export const FIELDS = {
  mode: [oneOf("map", "twin", "arrows", "matrix"), "map"],
  layout: [oneOf("topics", "umap"), "topics"],
  color: [oneOf("topic", "label", "disagree", "missing"), "topic"],
  a: [whole, 0],
  b: [whole, 1],
  side: [oneOf("topics", "results", "lists"), "topics"],
  panel: [oneOf("topic", "document", "compare", "curate"), "topic"],
  tab: [oneOf("find", "see", "read"), "see"],
  topic: [whole, null],
  doc: [whole, null],
  compare: [things, []],
  q: [text, ""],
  ask: [whole, 0],
  answer: [whole, 1],
  like: [whole, null], // ask with this document
  label: [whole, null],
  within: [whole, null], // only documents of this topic
  lacks: [whole, null], // only documents without this view
  list: [oneOf("disagree", "lacks", "unfit", "cell"), "disagree"],
  between: [numbers(2), null], // the views of the list "views disagree"; any by default
  gap: [whole, null], // the view of the list "lacks a view"
  cell: [numbers(2), null],
  camera: [numbers(3), [0, 0, 1]],
  curation: [json, null],
  theme: [oneOf("auto", "light", "dark"), "auto"],
  notes: [oneOf("on", "off"), "on"],
};

const same = (x, y) => JSON.stringify(x) === JSON.stringify(y);

/** Return the hash of a state; what is as at first is left out. */
export function encode(state) {
  const params = new URLSearchParams();
  for (const [name, [kind, first]] of Object.entries(FIELDS)) {
    const value = state[name];
    if (value === null || value === undefined || same(value, first)) continue;
    params.set(name, kind.write ? kind.write(value) : String(value));
  }
  return params.toString();
}

/** Return the state that a hash describes; what cannot be read is as at first. */
export function decode(hash) {
  const params = new URLSearchParams(hash.replace(/^#/, ""));
  const state = {};
  for (const [name, [kind, first]] of Object.entries(FIELDS)) {
    const value = params.has(name) ? kind.read(params.get(name)) : undefined;
    state[name] = value === undefined ? first : value;
  }
  return state;
}
