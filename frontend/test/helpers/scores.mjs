// node scores.mjs CONTAINER QUERIES: the scores of every document for each query, the first answers
// with the reasons for them, the mixtures of texts, and their words that are not known, as JSON.

import { readFileSync } from "node:fs";

import { unpack } from "../../src/core/decode.js";
import { leftOut } from "../../src/core/leftout.js";
import { allScores, search } from "../../src/core/search.js";

const [container, queries] = process.argv.slice(2);
const data = unpack(new Uint8Array(readFileSync(container)));
const answers = JSON.parse(readFileSync(queries, "utf8")).map(({ ask, query, answer }) => {
  const asked = { askView: ask, query, answerView: answer };
  const scores = allScores(data, asked);
  const { hits, mixture } = search(data, asked);
  const words = query.text === undefined ? null : leftOut(data, ask, query.text);
  const round = (x) => (Number.isNaN(x) ? null : x);
  return { scores: scores && Array.from(scores, round), hits, mixture: mixture && Array.from(mixture), left_out: words };
});
process.stdout.write(JSON.stringify(answers));
