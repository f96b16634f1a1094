// A drawing surface: a canvas that follows the size of its box and is drawn once a frame.

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

/**
 * Return a ref for the canvas and a function that asks for a frame.
 * @param draw called with (canvas, {width, height, ratio}) in CSS pixels
 */
export function useSurface(draw, limitRatio = 2) {
  const canvas = useRef(null);
  const latest = useRef(draw);
  const frame = useRef(0);
  latest.current = draw;
  const ask = () => {
    frame.current ||= requestAnimationFrame(() => {
      frame.current = 0;
      const element = canvas.current;
      const { clientWidth: width, clientHeight: height } = element ?? {};
      if (!width || !height) return;
      const ratio = Math.min(limitRatio, globalThis.devicePixelRatio || 1);
      const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
      if (element.width !== w || element.height !== h) Object.assign(element, { width: w, height: h });
      latest.current(element, { width, height, ratio });
    });
  };
  useEffect(() => {
    const observer = new ResizeObserver(ask);
    observer.observe(canvas.current);
    return () => {
      observer.disconnect();
      cancelAnimationFrame(frame.current);
      frame.current = 0;
    };
  }, []);
  useLayoutEffect(ask);
  return canvas;
}
