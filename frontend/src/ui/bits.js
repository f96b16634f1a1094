// Small pieces that the columns share.

import { html } from "./html.js";
import { count, percent } from "./format.js";
import { compareWith, corpus, group, hovered, nameOf, openDocument, openTopic, slots, state } from "./store.js";

/** A colored mark with the topic's number: never color alone. */
export const Mark = ({ topic }) => {
  const slot = slots.value.get(topic);
  return html`<span class=${`mark ${slot === undefined ? "gray" : `c${slot}`}`} aria-hidden="true">${topic}</span>`;
};

/** The name of a topic; a click opens it. */
export const TopicLink = ({ topic }) => html`
  <button class="link topic" onClick=${() => openTopic(topic)}><${Mark} topic=${topic} /><bdi>${nameOf(topic)}</bdi></button>
`;

/** A bar from 0 to 1 with its value beside it as text. */
export const Bar = ({ share, slot, text }) => html`
  <span class="bar"><span class=${`fill ${slot === undefined ? "" : `c${slot}`}`} style=${{ width: `${100 * Math.max(0, Math.min(1, share || 0))}%` }}></span></span>
  <span class="value">${text ?? percent(share)}</span>
`;

/** A sentence that says what one is looking at; all of them can be put away. */
export const Note = ({ children }) =>
  state.notes.value === "on" ? html`<p class="note">${children}</p>` : null;

/** Buttons of which one is chosen. */
export const Choice = ({ label, value, options, onChange, class: extra = "" }) => html`
  <div class=${`choice ${extra}`} role="group" aria-label=${label}>
    ${options.map(
      ([key, name]) => html`<button key=${key} aria-pressed=${String(key === value)} onClick=${() => onChange(key)}>${name}</button>`,
    )}
  </div>
`;

/** A list to choose one of, with its name before it. */
export const Select = ({ label, value, options, onChange, plain = false }) => html`
  <label class=${`select ${plain ? "plain" : ""}`}>
    <span>${label}</span>
    <select value=${String(value ?? "")} onChange=${(e) => onChange(e.target.value)}>
      ${options.map(([key, name]) => html`<option key=${key} value=${String(key ?? "")} selected=${String(key ?? "") === String(value ?? "")}>${name}</option>`)}
    </select>
  </label>
`;

/** Of a document with gaps, a sign for each view: filled if it is there, hatched if not. */
export const Presence = ({ row }) => corpus.value.lacking(row).length > 0 && html`
  <span class="presence">
    ${corpus.value.views.map((view, v) =>
      corpus.value.has(row, v)
        ? html`<span class="has" title=${`has ${view.name}`}></span>`
        : html`<span class="hatched" title=${`lacks ${view.name}`}><span class="sr">lacks ${view.name}</span></span>`,
    )}
  </span>
`;

/** Arrow keys move between the entries of a list. */
export function moveInList(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const entries = [...event.currentTarget.querySelectorAll("[data-entry]")];
  const next = entries[entries.indexOf(document.activeElement) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

/** Documents as a list of buttons, with the start of their texts in a view; `value(row)` stands at the right, `why(row)` below. */
export function Documents({ rows, value, why, label, view = null, empty = "None." }) {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`;
  return html`
    <ol class="documents" aria-label=${label} onKeyDown=${moveInList}>
      ${rows.map((row) => {
        const main = corpus.value.mixture(row, null, group.value)[0]?.[0];
        const said = corpus.value.said(row, view);
        return html`
          <li key=${row}>
            <button
              data-entry
              class=${state.doc.value === row ? "row chosen" : "row"}
              aria-current=${state.doc.value === row ? "true" : undefined}
              onClick=${() => openDocument(row)}
              onMouseEnter=${() => (hovered.value = row)}
              onMouseLeave=${() => (hovered.value = -1)}
              onFocus=${() => (hovered.value = row)}
            >
              ${main === undefined ? html`<span class="mark gray">–</span>` : html`<${Mark} topic=${main} />`}
              <span class="name"><bdi>${corpus.value.title(row)}</bdi>${said && html`<small dir="auto">${said}</small>`}${why && html`<span class="why">${why(row)}</span>`}</span>
              <${Presence} row=${row} />
              ${value ? html`<span class="value">${value(row)}</span>` : null}
            </button>
          </li>
        `;
      })}
    </ol>
  `;
}

export const CompareButton = ({ thing, name }) => html`
  <button class="small" onClick=${() => compareWith(thing)} title=${`Put ${name} into Compare`}>
    ${state.compare.value.length === 1 && state.compare.value[0][0] === thing[0] && state.compare.value[0] !== thing ? "Compare with the chosen one" : "Compare"}
  </button>
`;

export const viewOptions = () => corpus.value.views.map((view, v) => [v, view.name]);
export { count };
