// node scores.mjs CONTAINER QUERIES: the scores of every document for each query, as JSON.

import { readFileSync } from "node:fs";

import { unpack } from "../../src/core/decode.js";
import { foldIn, readText } from "../../src/core/foldin.js";
import { allScores } from "../../src/core/search.js";

const [container, queries] = process.argv.slice(2);
const data = unpack(new Uint8Array(readFileSync(container)));
const answers = JSON.parse(readFileSync(queries, "utf8")).map(({ ask, query, answer }) => {
  const scores = allScores(data, { askView: ask, query, answerView: answer });
  const mixture = query.text === undefined ? null : foldIn(data, ask, readText(data, ask, query.text));
  const round = (x) => (Number.isNaN(x) ? null : x);
  return { scores: scores && Array.from(scores, round), mixture: mixture && Array.from(mixture) };
});
process.stdout.write(JSON.stringify(answers));
