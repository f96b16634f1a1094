// The words of a topic, in the order and with the evidence of coview.top_terms.

/**
 * Return the first words of a topic in a view: [{term, name, documents, score}]. Of topics that
 * are merged both numbers are sums; words that too few documents stand behind are not in the data.
 */
export function topicWords(data, view, members, n = 10) {
  const [indptr, terms, documents, scores] = ["indptr", "terms", "documents", "scores"].map(
    (part) => data.arrays[`words.${view}.${part}`],
  );
  const found = new Map();
  for (const topic of members) {
    for (let j = indptr[topic]; j < indptr[topic + 1]; j += 1) {
      const before = found.get(terms[j]) ?? { documents: 0, score: 0 };
      const sums = { documents: before.documents + documents[j], score: before.score + scores[j] };
      found.set(terms[j], { term: terms[j], name: data.meta.views[view].terms[terms[j]], ...sums });
    }
  }
  return [...found.values()].sort((a, b) => b.score - a.score || a.term - b.term).slice(0, n);
}

/** Return why a topic has no words in a view: how many of its documents have the view. */
export function noWords(data, view, members) {
  let having = 0;
  let all = 0;
  for (const topic of members) {
    const [some, every] = data.meta.topics[topic].view_documents[data.meta.views[view].name];
    having += some;
    all += every;
  }
  const count = (x) => x.toLocaleString("en-US");
  return `— (${count(having)} of ${count(all)} document${all === 1 ? "" : "s"} ${having === 1 ? "has" : "have"} it)`;
}

/** Return what a word calls for in each other view, as a search has learned it: [{view, words: [[name, p]]}]. */
export function callsFor(data, view, term, n = 3) {
  const found = data.meta.views.map((_, other) => {
    const [indptr, indices, values] = ["indptr", "indices", "values"].map((part) => data.arrays[`table.${view}.${other}.${part}`]);
    if (!indptr) return { view: other, words: [] };
    const words = [];
    for (let i = indptr[term]; i < indptr[term + 1]; i += 1) words.push([data.meta.views[other].terms[indices[i]], values[i]]);
    return { view: other, words: words.sort((a, b) => b[1] - a[1]).slice(0, n) };
  });
  return found.filter(({ words }) => words.length > 0);
}
