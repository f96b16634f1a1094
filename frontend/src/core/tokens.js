// Split texts into terms exactly as Python does: coview/reading/words.py and scikit-learn's
// CountVectorizer. tests/explorer/tokens.json has examples that both must split alike.

// Han, Hiragana and Katakana: written without spaces, and mixed
const CJK =
  "\\u3005\\u3007\\u3021-\\u3029\\u3038-\\u303b\\u3041-\\u3096\\u309d-\\u309f\\u30a1-\\u30fa\\u30fc-\\u30ff" +
  "\\u31f0-\\u31ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\uff66-\\uff9f" +
  "\\u{1aff0}-\\u{1b16f}\\u{20000}-\\u{3ffff}";
const MARK = "\\p{M}";
const LETTER = "\\p{L}\\p{N}"; // Python's \w but for the underscore, which separates words here
// Python's white space, which is not that of JavaScript
const SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";

const INVISIBLE = /[\u00ad\u200c\u200d]/g;
const RUN = new RegExp(`[${CJK}][${CJK}${MARK}]*`, "gu");
const UNIT = new RegExp(`[${CJK}]${MARK}*`, "gu");
const STARTS_CJK = new RegExp(`^[${CJK}]`, "u");
const WORD_OR_RUN = new RegExp(`[${LETTER}][${LETTER}${MARK}]*`, "gu");
const SPACES = new RegExp(`[${SPACE}]{2,}`, "gu");
const ANY_SPACES = new RegExp(`[${SPACE}]+`, "u");
const OUTER_SPACE = new RegExp(`^[${SPACE}]+|[${SPACE}]+$`, "gu");

/** Return the terms of a text in order, by the recipe of a view (meta.views[v].recipe). */
export function tokenize(recipe, text) {
  if (recipe.kind === "tokens") return listedTokens(text, recipe.separator);
  let clean = recipe.lowercase ? text.toLowerCase() : text;
  clean = stripAccents(clean, recipe);
  if (recipe.analyzer === "char") return charNgrams(clean, recipe.ngrams);
  if (recipe.analyzer === "char_wb") return charNgramsOfWords(clean, recipe.ngrams);
  const words = recipe.split === "words" ? splitWords(clean) : splitByPattern(clean, recipe);
  return wordNgrams(words, recipe);
}

/** Return the words of a text: coview.reading.words.split_words. */
export function splitWords(text) {
  const same = text.replace(INVISIBLE, "").normalize("NFC").replace(/i\u0307/g, "i");
  const apart = same.replace(RUN, " $& ");
  const words = [];
  for (const [word] of apart.matchAll(WORD_OR_RUN)) {
    if (!STARTS_CJK.test(word)) {
      if (isLongerThanOne(word)) words.push(word);
      continue;
    }
    const units = word.match(UNIT);
    if (units.length === 1) words.push(units[0]);
    for (let i = 1; i < units.length; i++) words.push(units[i - 1] + units[i]);
  }
  return words;
}

function isLongerThanOne(word) {
  return word.length > 2 || Array.from(word).length > 1;
}

function splitByPattern(text, recipe) {
  const found = [];
  for (const match of text.matchAll(new RegExp(recipe.pattern, "gu"))) {
    found.push(match[recipe.group] ?? "");
  }
  return found;
}

function stripAccents(text, recipe) {
  if (!recipe.strip_accents) return text;
  const apart = text.normalize("NFKD");
  if (recipe.strip_accents === "ascii") return apart.replace(/[^\0-\x7f]/g, "");
  return apart.replace(new RegExp(`[${recipe.combining}]`, "gu"), "");
}

function wordNgrams(words, recipe) {
  const stop = new Set(recipe.stop_words);
  const kept = stop.size ? words.filter((word) => !stop.has(word)) : words;
  let [shortest, longest] = recipe.ngrams;
  if (longest === 1) return kept;
  const found = [];
  if (shortest === 1) {
    found.push(...kept);
    shortest = 2;
  }
  for (let n = shortest; n <= Math.min(longest, kept.length); n++) {
    for (let i = 0; i + n <= kept.length; i++) found.push(kept.slice(i, i + n).join(" "));
  }
  return found;
}

function charNgrams(text, [shortest, longest]) {
  const chars = Array.from(text.replace(SPACES, " "));
  const found = [];
  if (shortest === 1) {
    found.push(...chars);
    shortest = 2;
  }
  for (let n = shortest; n <= Math.min(longest, chars.length); n++) {
    for (let i = 0; i + n <= chars.length; i++) found.push(chars.slice(i, i + n).join(""));
  }
  return found;
}

function charNgramsOfWords(text, [shortest, longest]) {
  const found = [];
  for (const word of splitAtSpaces(text.replace(SPACES, " "))) {
    const chars = [" ", ...word, " "];
    for (let n = shortest; n <= longest; n++) {
      found.push(chars.slice(0, n).join(""));
      let i = 0;
      for (i = 0; i + n < chars.length; ) {
        i += 1;
        found.push(chars.slice(i, i + n).join(""));
      }
      if (i === 0) break; // a word shorter than n is counted once
    }
  }
  return found;
}

function splitAtSpaces(text) {
  const parts = text.replace(OUTER_SPACE, "").split(ANY_SPACES);
  return parts.length === 1 && parts[0] === "" ? [] : parts;
}

/** Return the tokens of a cell: coview.reading.text.token_cell. */
function listedTokens(text, separator) {
  let parts = null;
  if (separator === null && text.replace(OUTER_SPACE, "").startsWith("[")) {
    try {
      parts = JSON.parse(text).map(String);
    } catch {
      parts = null;
    }
  }
  parts ??= separator === null ? splitAtSpaces(text) : text.split(separator);
  return parts.map((part) => part.replace(OUTER_SPACE, "")).filter((part) => part !== "");
}
