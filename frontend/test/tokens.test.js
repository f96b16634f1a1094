// The page splits texts as Python does: tests/explorer/tokens.json has the tokens of both.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { tokenize } from "../src/core/tokens.js";

const file = new URL("../../tests/explorer/tokens.json", import.meta.url);
for (const { name, recipe, texts } of JSON.parse(readFileSync(file, "utf8"))) {
  test(`tokens: ${name}`, () => {
    for (const [text, tokens] of texts) assert.deepEqual(tokenize(recipe, text), tokens, text);
  });
}
