/**
 * The hex view: bytes that light up with their field.
 *
 *   mount(host, data, opts)   puts it into an element; the same module serves a notebook and a static page
 *
 * `data` is what `protocol.hexview` makes of a paste; nothing here knows Kafka.
 */

import { html, themed } from "../player/elements.js";
import { broken } from "../player/entry.js";
import { grid, span } from "./bytes.js";
import { reader } from "./reader.js";
import { owners, rows, tree } from "./tree.js";

/** The style sheet, hexview.css; put here when the module is handed out, so that it travels as one piece. */
export const STYLE = "@hexview.css@";

const WIDE = 900; // from here on the fields stand beside the bytes
const NARROW = 560; // below this a row has eight bytes

const SORTS = { record: "the group's record", envelope: "the consumer's envelope", payload: "the letter inside" };

/** One part; `first` is the place of its first row among those of all parts. */
function view(part, first, pinned) {
  part.rows = rows(part.rows);
  const owner = owners(part.rows, part.hex.length / 2);
  let pin = -1;
  const told = { at: (row) => light(row), pin: (row) => pinned(row < 0 || row === pin ? -1 : first + row) };
  const bytes = grid(part, owner, told);
  const fields = tree(part, told);
  const said = html("p", { class: "said", "aria-hidden": "true" });
  const all = [...new Set(part.rows.map((row) => row.sort).filter(Boolean))];
  const sorts = all.length > 1 ? all : [];
  const legend = html("p", { class: "legend" }, ...sorts.map((sort) => html("span", {}, html("i", { class: `byte first ${sort}`, "aria-hidden": "true" }, "00"), ` ${SORTS[sort]}`)),
    part.rows.some((row) => row.problem) ? html("span", {}, html("i", { class: "byte bad here", "aria-hidden": "true" }, "00"), " where reading stops") : null);

  function light(at) {
    const shown = at >= 0 ? at : pin;
    const row = part.rows[shown];
    const above = [];
    for (let one = part.rows[row?.parent]; one; one = part.rows[one.parent]) above.push(one);
    bytes.mark(row, above.find((one) => one.end - one.start < part.size), part.rows[pin]);
    fields.mark(row, new Set(above.map((one) => one.index)), part.rows[pin]);
    const focused = element.getRootNode().activeElement;
    if (!fields.element.matches(":hover") && !fields.element.contains(focused)) fields.show(row);
    if (!bytes.element.matches(":hover") && !bytes.element.contains(focused)) bytes.show(row);
    said.replaceChildren(...(row ? sentence(row, above) : ["Point at a byte or a field; a click keeps it."]));
  }

  /** Where the bytes are, what they are called, and what they say. */
  function sentence(row, above) {
    const where = row.end > row.start ? `byte${row.end - row.start > 1 ? "s" : ""} ${span(row.start, row.end)}` : "no byte";
    const layer = row.sort ? null : above.find((one) => one.sort);
    return [html("span", { class: "place" }, where), " ", ...(layer ? [html("span", { class: "of" }, layer.name), " › "] : []), html("b", {}, row.path),
      row.problem ? `: cannot be read, ${row.problem}` : row.value && ` = ${row.value}`, row.meaning && `: ${row.meaning}`].filter(Boolean);
  }

  const element = html("section", { class: "part", "aria-label": `${part.label || part.kind}, ${part.size} bytes` },
    html("p", { class: "caption" }, part.label ? `${part.label}: ${part.kind}` : part.kind, html("span", { class: "aside" }, `${part.size} bytes`)),
    html("div", { class: "both" }, html("div", { class: "left" }, legend, bytes.element, part.cut ? html("p", { class: "cut" }, part.cut) : null, said), fields.element,
      html("div", { class: "more" }, part.notes.length ? html("ul", { class: "notes" }, ...part.notes.map((note) => html("li", {}, note))) : null, reader(part))));
  for (const one of [bytes.element, fields.element]) one.addEventListener("pointerleave", () => light(-1));
  element.addEventListener("focusout", (event) => { if (!element.contains(event.relatedTarget)) light(-1); });
  element.addEventListener("keydown", (event) => {
    event.stopPropagation(); // a notebook would take our arrows and letters for its own
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select")) return;
    const taken = event.key === "Escape" ? (pinned(-1), true) : [bytes, fields].some((one) => one.element.contains(event.target) && one.key(event));
    if (taken) event.preventDefault();
  });
  return { element, count: part.rows.length, draw: bytes.draw, keep(row) { pin = row; light(-1); } };
}

export function mount(host, data, opts = {}) {
  const listening = new AbortController();
  const { signal } = listening;
  let index = -1;

  // A shadow root: no theme leaks in, no rule and no id leaks out.
  host.classList.add("vp-host");
  host.dataset.lmSuppressShortcuts = "true"; // JupyterLab: its one-letter shortcuts stay away from our keys
  const shadow = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const root = html("div", { class: "hexview", role: "group", "aria-label": data.title || "Bytes and their fields" });
  shadow.replaceChildren(html("style", {}, STYLE), root);

  const parts = [];
  let first = 0;
  for (const part of structuredClone(data.parts)) {
    const one = view(part, first, (row) => go(row));
    parts.push({ ...one, first });
    first += one.count;
  }
  if (data.title) root.append(html("p", { class: "title" }, data.title));
  root.append(...parts.map((one) => one.element));
  if (data.more) root.append(html("p", { class: "cut" }, data.more));

  function go(to, { quiet = false } = {}) {
    index = to >= 0 && to < first ? Math.trunc(to) : -1;
    for (const one of parts) one.keep(index >= one.first && index < one.first + one.count ? index - one.first : -1);
    if (!quiet) opts.onstep?.(index);
  }

  const paint = themed(host, root, signal);
  addEventListener("beforeprint", () => { root.dataset.theme = "light"; }, { signal }); // paper is white
  addEventListener("afterprint", paint, { signal });

  let width = 0;
  function fit() {
    if (!host.isConnected || !root.clientWidth || root.clientWidth === width) return;
    width = root.clientWidth;
    paint();
    root.classList.toggle("wide", root.clientWidth >= WIDE);
    root.classList.toggle("narrow", root.clientWidth < NARROW);
    for (const one of parts) one.draw(root.clientWidth < NARROW ? 8 : 16);
    for (const box of root.querySelectorAll(".hex, .tree")) box.scrollTop = 0; // lines that were broken are not any more
    go(host.dataset.ready ? index : opts.start ?? -1, { quiet: true });
    host.dataset.ready = "true";
  }
  delete host.dataset.ready;
  const sizes = new ResizeObserver(fit);
  sizes.observe(root);

  return {
    go,
    get index() { return index; },
    destroy() {
      listening.abort();
      sizes.disconnect();
      root.remove();
    },
  };
}

/** Show every paste that a static page holds. */
export function begin(page = document) {
  for (const host of page.querySelectorAll("div.vp-bytes:not([data-ready])")) {
    if (host.player) continue;
    try {
      host.player = mount(host, JSON.parse(host.querySelector("script").textContent), { start: Number(host.dataset.index) });
    } catch { broken(host); }
  }
}
