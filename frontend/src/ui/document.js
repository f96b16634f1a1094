// The right column on one document: its topics by each view, its words, neighbors, what is missing.

import { useEffect, useState } from "preact/hooks";

import { predictTerms, trustOf } from "../core/predict.js";
import { search } from "../core/search.js";
import { tokenize } from "../core/tokens.js";
import { termNumbers } from "../core/decode.js";
import { CompareButton, Documents, Note, TopicLink } from "./bits.js";
import { clip, percent } from "./format.js";
import { html } from "./html.js";
import { askLike, corpus, group, hidden, nameOf, openTopic, shownDoc, slots } from "./store.js";

const N_WORDS = 40;
const N_NEIGHBORS = 5;

/** Shares as a strip; the number of the topic stands where there is room. */
export function Strip({ pairs }) {
  const shown = pairs.filter(([topic, share]) => share >= 0.02 && !hidden.value.has(topic));
  const rest = 1 - shown.reduce((sum, [, share]) => sum + share, 0);
  return html`
    <span class="strip">
      ${shown.map(([topic, share]) => {
        const slot = slots.value.get(topic);
        return html`<button key=${topic} class=${slot === undefined ? "gray" : `c${slot}`} style=${{ flexGrow: share }}
          title=${`${clip(nameOf(topic), 60)}: ${percent(share)}`} aria-label=${`${topic} ${clip(nameOf(topic), 60)}: ${percent(share)}`} onClick=${() => openTopic(topic)}>${share > 0.09 ? topic : ""}</button>`;
      })}
      ${rest > 0.005 && html`<span class="rest" style=${{ flexGrow: rest }} title=${`other topics: ${percent(rest)}`}></span>`}
    </span>
  `;
}

/** The mixture of a document by all views and by each one alone. */
export function Mixtures({ row }) {
  const { views } = corpus.value;
  const line = (name, pairs) => html`<div class="line"><span class="word"><bdi>${name}</bdi></span><${Strip} pairs=${pairs} /></div>`;
  return html`
    <div class="mixtures">
      ${line("all views", corpus.value.mixture(row, null, group.value))}
      ${views.map((view, v) => {
        const pairs = corpus.value.mixture(row, v, group.value);
        return pairs.length
          ? line(clip(view.name, 30), pairs)
          : html`<div class="line"><span class="word"><bdi>${clip(view.name, 30)}</bdi></span><span class="strip hatched"><span class="missing">not there</span></span></div>`;
      })}
    </div>
  `;
}

/** Topics of the document by name, with the share that each view gives. */
function TopicShares({ row }) {
  const { views } = corpus.value;
  const all = corpus.value.mixture(row, null, group.value);
  const alone = views.map((_, v) => new Map(corpus.value.mixture(row, v, group.value)));
  const wanted = new Set(all.filter(([, s]) => s > 0.05).map(([t]) => t));
  alone.forEach((shares) => shares.forEach((s, t) => s > 0.1 && wanted.add(t)));
  const list = [...wanted].filter((t) => !hidden.value.has(t)).slice(0, 8);
  return html`
    <table class="shares-table">
      <caption class="sr">Share of each topic by each view</caption>
      <thead><tr><th scope="col">Topic</th><th scope="col">all</th>${views.map((view) => html`<th scope="col"><bdi>${clip(view.name, 14)}</bdi></th>`)}</tr></thead>
      <tbody>${list.map((topic) => html`
        <tr key=${topic}><th scope="row"><${TopicLink} topic=${topic} /></th>
          <td>${percent(new Map(all).get(topic) ?? 0)}</td>
          ${alone.map((shares) => html`<td>${shares.size ? percent(shares.get(topic) ?? 0) : "–"}</td>`)}</tr>`)}</tbody>
    </table>
  `;
}

/** A word on the color of its topic, with the topic's number below it; pointing at it shows what it calls for. */
function Word({ text, view, term, topic, times }) {
  const slot = slots.value.get(topic);
  const calls = corpus.value.calls(view, term);
  if (slot === undefined) return html`<span title=${calls || undefined}>${text}</span>`;
  return html`<span class=${`tint c${slot}`} title=${[clip(nameOf(topic), 60), calls].filter(Boolean).join("\n")}>${text}<sub>${topic}</sub>${times > 1 ? html`<small>×${times}</small>` : null}</span>`;
}

/** The topic of each word of a text, as the view's own recipe reads the word. */
function tinted(text, row, view) {
  const { recipe } = corpus.value.views[view];
  const pairs = corpus.value.mixture(row);
  const numbers = termNumbers(corpus.value.data, view);
  return text.split(/([\p{L}\p{N}_]+)/u).map((part, i) => {
    if (i % 2 === 0 || part.length > 100) return part;
    const term = tokenize(recipe, part).map((t) => numbers.get(t)).find((t) => t !== undefined);
    if (term === undefined) return part;
    const topic = corpus.value.topicOfTerm(pairs, view, term);
    return topic < 0 ? part : html`<${Word} text=${part} view=${view} term=${term} topic=${group.value[topic]} />`;
  });
}

/** The text of a view, or its most frequent terms. */
function Words({ row, view, more }) {
  const text = more ?? corpus.value.snippet(row, view);
  const picture = corpus.value.picture(row, view);
  const pairs = corpus.value.mixture(row);
  const terms = corpus.value.terms(row, view).slice(0, N_WORDS);
  const { recipe } = corpus.value.views[view];
  return html`
    ${picture && html`<img class="picture" src=${picture} alt=${`${corpus.value.views[view].name} of this document`} />`}
    ${text && recipe ? html`<p class="text" dir="auto">${tinted(clip(text, 4000), row, view)}</p>` : text ? html`<p class="text" dir="auto">${clip(text, 4000)}</p>` : null}
    ${!text && html`<p class="chips">${terms.map(([term, times]) => html`
      <${Word} key=${term} text=${clip(corpus.value.term(view, term), 40)} view=${view} term=${term} topic=${group.value[corpus.value.topicOfTerm(pairs, view, term)]} times=${times} /> `)}</p>`}
    ${!text && !picture && terms.length === 0 && html`<p class="empty">Nothing of it is kept in this page.</p>`}
  `;
}

/** What the other views say about a view that is not there. */
function Predicted({ row, view }) {
  const terms = predictTerms(corpus.value.data, corpus.value.dense(row), view, 14, trustOf(corpus.value.data, row));
  return html`
    <div class="missing-view">
      <span class="tag hatched">not there</span>
      <p class="note always">Words that the other views predict:</p>
      <p class="chips predicted">${terms.map(({ name, p }) => html`<span class="guess">${clip(name, 40)} <small>${percent(p)}</small></span> `)}</p>
    </div>
  `;
}

/** The nearest documents by one view alone. */
function Neighbors({ row, view }) {
  const { data } = corpus.value;
  const found = search(data, { askView: view, query: { row }, answerView: view, filter: (other) => other !== row, top: N_NEIGHBORS });
  const scores = new Map(found.hits.map((hit) => [hit.row, hit.score]));
  return html`
    <h4>by <bdi>${clip(corpus.value.views[view].name, 30)}</bdi></h4>
    <${Documents} label=${`Neighbors by ${corpus.value.views[view].name}`} view=${view} rows=${[...scores.keys()]} value=${(r) => percent(scores.get(r))} />
  `;
}

/** How far the views are apart, in words. */
function Verdict({ row }) {
  const { arrays } = corpus.value;
  const [value, chance, beyond] = ["value", "chance", "beyond"].map((name) => arrays[`disagreement.${name}`]?.[row]);
  if (!Number.isFinite(beyond)) return null;
  const share = (loss) => Math.max(0, Math.min(1, loss)); // topics that mislead lose more than there was
  const apart = beyond >= corpus.value.noticeable;
  return html`<p class=${`verdict ${apart ? "strong" : ""}`}><b>${apart ? "Its views disagree" : "Its views agree"}:</b> with the topics of one view, ${percent(share(value))} of what explains another is lost; chance alone would lose ${percent(share(chance))}.</p>`;
}

/** The whole texts, from the server that the page came from. */
function useTexts(row) {
  const [texts, set] = useState(null);
  useEffect(() => {
    if (!corpus.value.server || row === null) return undefined;
    let current = true;
    set(null);
    fetch(`doc/${row}`).then((r) => r.json()).then((found) => current && set(found.texts ?? null), () => {});
    return () => (current = false);
  }, [row]);
  return texts;
}

export function Doc() {
  const row = shownDoc.value;
  const texts = useTexts(row);
  if (row === null) return html`<p class="empty">Choose a point on the map, or a document in a list.</p>`;
  const { views, docs } = corpus.value;
  const id = docs.ids?.[row];
  const label = corpus.value.labelOf(row);
  return html`
    <header class="head">
      <h2><bdi>${corpus.value.title(row, 110)}</bdi></h2>
      <p>Document ${row}${id && String(id) !== String(row) && docs.titles?.[row] ? html` · <bdi>${clip(id, 60)}</bdi>` : null}${label !== null ? html` · <span class="tag"><bdi>${clip(label, 40)}</bdi></span>` : null}</p>
      <div class="actions">
        <button class="small" onClick=${() => askLike(row)}>Search with this document</button>
        <${CompareButton} thing=${`d${row}`} name="this document" />
      </div>
    </header>
    <${Verdict} row=${row} />
    <${Mixtures} row=${row} />
    <${Note}>Each strip is the document’s mixture of topics: from all views, then from each view <em>alone</em>. Numbers are topics; a hatched strip is a view that is not there.</${Note}>
    <${TopicShares} row=${row} />
    ${views.map((view, v) => html`
      <section key=${v} class="view"><h3><bdi>${clip(view.name, 60)}</bdi></h3>
        ${corpus.value.has(row, v) ? html`<${Words} row=${row} view=${v} more=${texts?.[view.name]} />` : html`<${Predicted} row=${row} view=${v} />`}
      </section>`)}
    <h3>Neighbors</h3>
    ${views.map((_, v) => corpus.value.has(row, v) && html`<${Neighbors} key=${`${row}.${v}`} row=${row} view=${v} />`)}
  `;
}
