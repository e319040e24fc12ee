/** Making elements: whatever comes out of data reaches the page as a text node or an attribute value, never as markup. */

const SVG = "http://www.w3.org/2000/svg";
const ICONS = {
  first: "M4 3v10M13 3 6 8l7 5z",
  back: "M11 3 4 8l7 5z",
  play: "M4 2.5v11L13.5 8z",
  pause: "M4 3h2.6v10H4zM9.4 3H12v10H9.4z",
  next: "M5 3l7 5-7 5z",
  last: "M12 3v10M3 3l7 5-7 5z",
};
export const CROWN = "M-5.5 3.4-7-3.2l3.6 2.2L0-5l3.4 4L7-3.2 5.5 3.4z";

export function html(tag, props = {}, ...kids) {
  const { class: name, ...rest } = props;
  const element = document.createElement(tag);
  if (name) element.className = name;
  for (const [key, value] of Object.entries(rest)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value != null && value !== false) element.setAttribute(key, value);
  }
  element.append(...kids.filter((kid) => kid != null));
  return element;
}

export function svg(tag, attributes = {}, ...kids) {
  const element = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...kids);
  return element;
}

export const icon = (name) => svg("svg", { viewBox: "0 0 16 16", "aria-hidden": "true", class: "icon" }, svg("path", { d: ICONS[name] }));
export const caption = (text, ...more) => html("h3", { class: "caption" }, text, ...more);

const sheets = {};

/** A style sheet that is read once, for all players of a page. */
export function sheet(text) {
  if (!sheets[text]) (sheets[text] = new CSSStyleSheet()).replaceSync(text);
  return sheets[text];
}

/** The theme that is really behind an element: the first painted background above it. One rule for every host page. */
function isDark(element) {
  for (let node = element; node; node = node.parentElement ?? node.getRootNode().host) {
    const colour = getComputedStyle(node).backgroundColor.match(/[\d.]+/g)?.map(Number);
    if (colour && !(colour[3] <= 0.5)) return 2 * colour[0] + 7 * colour[1] + colour[2] < 1280;
  }
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

/** Keep the root in the theme that is behind its host, until the signal ends it; gives what looks again. */
export function themed(host, root, signal) {
  const paint = () => { root.dataset.theme = isDark(host.parentElement ?? document.body) ? "dark" : "light"; };
  const watching = new MutationObserver(paint);
  for (const node of [document.documentElement, document.body]) watching.observe(node, { attributes: true });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint, { signal });
  signal.addEventListener("abort", () => watching.disconnect());
  return paint;
}

export const words = (state) => state.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
export const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Call a function once things have come to rest. */
export function rested(action, milliseconds = 150) {
  let timer = 0;
  const later = (...values) => { clearTimeout(timer); timer = setTimeout(() => action(...values), milliseconds); };
  later.cancel = () => clearTimeout(timer);
  return later;
}
