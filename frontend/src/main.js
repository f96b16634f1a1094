// Starts the page: reads the data that stand in it, or asks the server that it came from.

import { render } from "preact";
import { effect } from "@preact/signals";

import { decode, gunzip, unpack } from "./core/decode.js";
import { App } from "./ui/app.js";
import { followQuestion } from "./ui/asking.js";
import { Corpus } from "./ui/corpus.js";
import { html } from "./ui/html.js";
import { corpus, dark, followHash, state, systemDark } from "./ui/store.js";

async function load(root) {
  if (root.dataset.server) {
    const response = await fetch("data.bin");
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    return { ...unpack(await gunzip(new Uint8Array(await response.arrayBuffer()))), server: true };
  }
  const element = document.getElementById("coview-data");
  const data = await decode(element.textContent);
  element.textContent = ""; // megabytes of text that nobody needs twice
  return data;
}

function followTheme() {
  const media = matchMedia("(prefers-color-scheme: dark)");
  systemDark.value = media.matches;
  media.addEventListener("change", () => (systemDark.value = media.matches));
  effect(() => {
    document.documentElement.dataset.theme = dark.value ? "dark" : "light";
  });
}

function followKeys() {
  addEventListener("keydown", (event) => {
    const typing = /^(input|textarea|select)$/i.test(event.target.tagName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      state.tab.value = "find";
      const focus = () => document.getElementById("search")?.focus();
      focus();
      if (document.activeElement?.id !== "search") setTimeout(focus, 50); // the column was not shown
    }
    if (event.key === "Escape" && event.target.id === "search") {
      state.q.value = "";
      event.target.blur();
    }
  });
}

async function start() {
  const root = document.getElementById("coview");
  try {
    corpus.value = new Corpus(await load(root));
  } catch (error) {
    root.textContent = `The data of this page cannot be read: ${error.message}. Open it in a current browser, or write it again with coview.`;
    root.className = "broken";
    return;
  }
  document.title = `${corpus.value.meta.title} · coview`;
  if (corpus.value.views?.length === 1) state.answer.value = 0;
  followHash();
  followTheme();
  followQuestion();
  followKeys();
  root.textContent = "";
  render(html`<${App} />`, root);
  document.documentElement.dataset.ready = "yes";
}

start();
