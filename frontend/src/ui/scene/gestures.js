// Dragging, wheel, pinch and keys move the camera; a short press picks.

import { state } from "../store.js";
import { HOME, panned, zoomed } from "./camera.js";

const STILL = 5; // pixels that a press may move and still be a click
const KEYS = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };

/** Handlers for an element; `hover(x, y)`, `leave()` and `pick(x, y)` get CSS pixels. */
export function gestures({ hover, leave, pick }) {
  const fingers = new Map();
  let moved = 0;
  const at = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top, box.width, box.height];
  };
  const change = (next) => (state.camera.value = next);

  function drag(event) {
    const [x, y, width, height] = at(event);
    const before = fingers.get(event.pointerId);
    if (!before) return hover(x, y);
    const [dx, dy] = [x - before[0], y - before[1]];
    moved += Math.abs(dx) + Math.abs(dy);
    if (fingers.size === 2) {
      const other = [...fingers].find(([id]) => id !== event.pointerId)[1];
      const [far, near] = [Math.hypot(x - other[0], y - other[1]), Math.hypot(before[0] - other[0], before[1] - other[1])];
      change(zoomed(state.camera.value, far / Math.max(1, near), (x + other[0]) / 2, (y + other[1]) / 2, width, height));
    } else if (moved > STILL) {
      change(panned(state.camera.value, dx, dy, width, height));
    }
    fingers.set(event.pointerId, [x, y]);
    return undefined;
  }

  return {
    onPointerDown: (event) => {
      if (event.button > 0) return;
      const [x, y] = at(event);
      if (fingers.size === 0) moved = 0;
      fingers.set(event.pointerId, [x, y]);
      event.currentTarget.setPointerCapture(event.pointerId);
    },
    onPointerMove: drag,
    onPointerUp: (event) => {
      const [x, y] = at(event);
      if (fingers.delete(event.pointerId) && moved <= STILL) pick(x, y);
    },
    onPointerCancel: (event) => fingers.delete(event.pointerId),
    onPointerLeave: leave,
    onWheel: (event) => {
      event.preventDefault();
      const [x, y, width, height] = at(event);
      const lines = event.deltaMode === 1 ? 20 : 1;
      change(zoomed(state.camera.value, Math.exp(-event.deltaY * lines * 0.0018), x, y, width, height));
    },
    onKeyDown: (event) => {
      const { clientWidth: width, clientHeight: height } = event.currentTarget;
      const zoomBy = (factor) => change(zoomed(state.camera.value, factor, width / 2, height / 2, width, height));
      if (KEYS[event.key]) change(panned(state.camera.value, ...KEYS[event.key], width, height));
      else if (event.key === "+" || event.key === "=") zoomBy(1.4);
      else if (event.key === "-") zoomBy(1 / 1.4);
      else if (event.key === "0") change(HOME);
      else if (event.key === "Enter") pick(width / 2, height / 2, 80);
      else return;
      event.preventDefault();
    },
  };
}
