import assert from "node:assert/strict";
import test from "node:test";

import { decode, encode, FIELDS } from "../src/ui/hash.js";

const FIRST = Object.fromEntries(Object.entries(FIELDS).map(([name, [, first]]) => [name, first]));

test("a state comes back from its hash", () => {
  const state = {
    ...FIRST, mode: "arrows", topic: 3, doc: 12, compare: ["t3", "t7"], q: "a & b = #ü",
    cell: [4, 9], camera: [0.1, -0.2, 3], curation: { names: { 3: "Sport" }, merge: [[1, 2]], hide: [5] },
  };
  assert.deepEqual(decode(`#${encode(state)}`), state);
});

test("the first state has no hash", () => {
  assert.equal(encode(FIRST), "");
  assert.deepEqual(decode(""), FIRST);
});

test("nonsense in a hash is as if it were not there", () => {
  const odd = "mode=fly&topic=-3&doc=1e9&compare=x1&cell=1&camera=1,2,NaN&curation=%7B&theme=pink&constructor=1";
  assert.deepEqual(decode(odd), FIRST);
});
