// The page: three columns, or one of them at a time on a phone.

import { useErrorBoundary } from "preact/hooks";

import { Choice } from "./bits.js";
import { Compare } from "./compare.js";
import { Curate } from "./curate.js";
import { Doc } from "./document.js";
import { Finding } from "./finding.js";
import { plural } from "./format.js";
import { html } from "./html.js";
import { Seeing } from "./scene/modes.js";
import { corpus, state } from "./store.js";
import { Topic } from "./topic.js";

const PANELS = { topic: Topic, document: Doc, compare: Compare, curate: Curate };
const TABS = [["topic", "Topic"], ["document", "Document"], ["compare", "Compare"], ["curate", "Curate"]];
const THEMES = { auto: "light", light: "dark", dark: "auto" };
const SIGNS = { auto: "◐", light: "○", dark: "●" };

function Header() {
  const { meta } = corpus.value;
  const notes = state.notes.value === "on";
  return html`
    <header class="top">
      <span class="brand">coview</span>
      <h1><bdi>${meta.title}</bdi></h1>
      <span class="sum">${plural(meta.n_docs, "document")} · ${plural(meta.n_topics, "topic")} · ${plural(meta.views.length, "view")}</span>
      <span class="room"></span>
      <button class="small quiet" aria-pressed=${String(notes)} onClick=${() => (state.notes.value = notes ? "off" : "on")}>Explain</button>
      <button class="small quiet" onClick=${() => (state.theme.value = THEMES[state.theme.value])}><span aria-hidden="true">${SIGNS[state.theme.value]}</span> ${state.theme.value === "auto" ? "Auto" : state.theme.value === "dark" ? "Dark" : "Light"}<span class="sr"> colors</span></button>
    </header>
  `;
}

/** A fault in one column leaves the others as they are. */
function Guard({ children }) {
  const [error, reset] = useErrorBoundary();
  if (!error) return children;
  return html`<div class="warn" role="alert">This part cannot be shown: ${String(error.message ?? error)} <button class="small" onClick=${reset}>Try again</button></div>`;
}

function Reading() {
  const Panel = PANELS[state.panel.value];
  return html`
    <section class="read" aria-label="Details">
      <${Choice} label="Details" class="tabs" value=${state.panel.value} options=${TABS} onChange=${(key) => (state.panel.value = key)} />
      <div class="scroll" tabindex="0" role="region" aria-label="What is chosen" key=${`${state.panel.value} ${state.panel.value === "topic" ? state.topic.value : state.panel.value === "document" ? state.doc.value : ""}`}><${Guard}><${Panel} /></${Guard}></div>
    </section>
  `;
}

export const App = () => html`
  <div class="page" data-tab=${state.tab.value}>
    <${Header} />
    <main class="columns">
      <${Guard}><${Finding} /></${Guard}>
      <${Guard}><${Seeing} /></${Guard}>
      <${Reading} />
    </main>
    <nav class="phone" aria-label="Columns">
      <${Choice} label="Column" value=${state.tab.value} options=${[["find", "Find"], ["see", "See"], ["read", "Read"]]} onChange=${(key) => (state.tab.value = key)} />
    </nav>
  </div>
`;
