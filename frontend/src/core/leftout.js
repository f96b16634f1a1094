// Why words are not known: coview/reading/left_out.py. The page has hashes of the terms that were
// counted but not kept, with the number of documents that have each.

import { cached, termNumbers } from "./decode.js";
import { tokenize } from "./tokens.js";

const SHOWN = 5; // words of a message

/** Return "'moth' is too rare (...), ..." of the words of a text that a view does not know, or "". */
export function leftOut(data, view, text) {
  const numbers = termNumbers(data, view);
  const share = data.arrays[`term_share.${view}`];
  const known = (word) => share[numbers.get(word)] > 0;
  const words = [...new Set(tokenize(data.meta.views[view].recipe, text))].filter((w) => !known(w));
  const told = words.slice(0, SHOWN).map((w) => `'${clip(w)}' is ${reason(data, view, w, numbers.has(w))}`);
  if (words.length > SHOWN) told.push(`and ${(words.length - SHOWN).toLocaleString("en-US")} more`);
  return told.join(", ");
}

const clip = (word) => (word.length > 30 ? `${word.slice(0, 29)}…` : word);

function reason(data, view, word, isColumn) {
  const { left_out: found } = data.meta.views[view];
  const n = found ? documentsWith(data, view, word) : 0;
  if (n === 0) return isColumn || found?.complete ? "in no document of training" : "not in the vocabulary";
  if (n > found.max) return `too common (in ${Math.round((100 * n) / found.documents)} % of the documents; ${found.options[0]})`;
  const documents = `${n.toLocaleString("en-US")} document${n === 1 ? "" : "s"}`;
  if (n < found.min) return `too rare (in ${documents}; ${found.options[1]})`;
  return `not frequent enough (in ${documents}; ${found.options[2]})`;
}

function documentsWith(data, view, word) {
  const found = cached(data, `left out ${view}`, () => {
    const values = data.arrays[`leftout.${view}.values`];
    return new Map(Array.from(data.arrays[`leftout.${view}.indices`], (hash, i) => [hash, values[i]]));
  });
  return found.get(crc32(new TextEncoder().encode(word))) ?? 0;
}

/** Return the check sum of bytes that zlib.crc32 of Python gives. */
export function crc32(bytes) {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (0xedb88320 & -(sum & 1));
  }
  return ~sum >>> 0;
}
