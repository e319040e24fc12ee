// "Make this page live": runs the page's own cells in the reader's browser. Python is in `worker.mjs`.

import { Widgets } from "./widgets.js";

const VIEW = "application/vnd.jupyter.widget-view+json";
const root = document.documentElement;

const make = (tag, attributes = {}, ...kids) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...kids);
  return element;
};
const button = (text, onclick, more = {}) => make("button", { type: "button", class: "live-button", onclick, ...more }, text);

/** One run of Python, from its start to its end. */
class Python {
  #worker = new Worker(new URL("worker.mjs", import.meta.url), { type: "module" });
  #waiting = new Map();
  #count = 0;

  constructor(heard) {
    this.widgets = new Widgets((id, data, buffers = []) => this.ask("comm", { text: JSON.stringify({ comm_id: id, data }), buffers }));
    this.#worker.onmessage = ({ data }) => {
      if (!("done" in data)) { heard(JSON.parse(data.text), data.buffers); return; }
      this.#waiting.get(data.done)?.(data);
      this.#waiting.delete(data.done);
    };
    this.#worker.onerror = (event) => this.end(event.message || "the worker did not start");
  }

  ask(job, more = {}) {
    const id = ++this.#count;
    this.#worker.postMessage({ id, job, ...more });
    return new Promise((settle) => this.#waiting.set(id, settle));
  }

  end(why = "stopped") {
    this.#worker.terminate();
    for (const settle of this.#waiting.values()) settle({ ok: false, fatal: why });
    this.#waiting.clear();
  }
}

/** A cell of the page: what it came with, what the reader made of it, what it shows. */
class Cell {
  constructor(source, node) {
    this.source = source;
    this.node = node;
    this.input = node?.querySelector(".cell_input") ?? null;
    this.saved = node?.querySelector(":scope > .cell_output, :scope > details > .cell_output") ?? null;
    this.output = this.saved;
  }

  get code() { return this.editor?.value ?? this.source; }

  tools(run) {
    if (!this.input || this.bar) return;
    this.bar = make("div", { class: "live-tools" },
      button("Run", () => run([this]), { title: "Shift+Enter in the code" }), button("Edit", () => this.edit(run)), button("Reset", () => this.reset()));
    this.input.after(this.bar);
  }

  edit(run) {
    if (this.editor) { this.editor.focus(); return; }
    this.editor = make("textarea", { class: "live-code", spellcheck: "false", autocapitalize: "off", "aria-label": "The code of this cell", rows: String(this.source.split("\n").length + 1) });
    this.editor.value = this.source;
    this.editor.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter" && (event.shiftKey || event.ctrlKey || event.metaKey)) { event.preventDefault(); run([this]); }
    });
    this.input.hidden = true;
    this.input.before(this.editor);
    this.editor.focus();
  }

  /** The code and the output that the page came with. */
  reset() {
    this.editor?.remove();
    this.editor = null;
    if (this.input) this.input.hidden = false;
    this.put(this.saved);
    this.node?.removeAttribute("data-ran");
  }

  put(output) {
    if (this.output && output) this.output.replaceWith(output);
    else if (output) (this.bar ?? this.node)[this.bar ? "after" : "append"](output);
    else this.output?.remove();
    this.output = output;
  }

  begin() {
    if (!this.node) return;
    this.put(make("div", { class: "cell_output docutils container live-output" }));
    this.node.dataset.ran = "now";
  }
}

function live(text) {
  const { megabytes, notebook, cells: sources } = JSON.parse(text);
  const nodes = [...document.querySelectorAll("article div.cell")];
  const shown = sources.filter((one) => one.shown).length;
  const cells = sources.map((one) => new Cell(one.source, one.shown ? nodes.shift() : null));
  if (cells.filter((cell) => cell.node).length !== shown) throw new Error("the cells of the page are not those of the chapter");

  const said = make("span", { class: "live-said", role: "status" });
  const go = button("Make this page live", () => begin(), { "data-key": "go" });
  const all = button("Run all", () => run(cells), { hidden: true });
  const stop = button("Stop", () => halt(), { hidden: true });
  const reset = button("Reset page", () => { halt(); cells.forEach((cell) => cell.reset()); say("The page is as it came.", "off"); }, { hidden: true });
  const bar = document.querySelector(".book-bar") ?? document.querySelector("article");
  const lab = new URL(`../../lite/notebooks/index.html?path=${notebook}&run`, import.meta.url);
  const open = make("a", { class: "live-button", href: lab.href, target: "_blank", "data-key": "lab", title: "The whole chapter as a notebook, run by Python in your browser" }, "Open in JupyterLite");
  bar.prepend(make("div", { class: "live-bar" }, go, all, stop, reset, open, said));

  let python = null, current = null, work = Promise.resolve(), pending = Promise.resolve();
  const say = (what, state) => {
    said.textContent = what;
    root.dataset.live = state;
    go.hidden = state !== "off";
    all.hidden = reset.hidden = state === "off" || state === "starting";
    stop.hidden = state !== "running" && state !== "starting";
  };

  function heard(message, buffers) {
    if (message.kind === "comm") { python.widgets.heard(message, buffers); return; }
    const place = current?.output ?? null;
    pending = pending.then(() => show(message, place)).catch((error) => fail(place, String(error)));
  }

  function fail(place, what) {
    (place ?? bar).append(make("pre", { class: "live-error" }, what));
  }

  async function show(message, place) {
    if (message.kind === "error") { fail(place, message.traceback); return; }
    if (!place) return;
    if (message.kind === "clear") { place.replaceChildren(); return; }
    if (message.kind === "stream") {
      const last = place.lastElementChild;
      if (last?.dataset.stream === message.name) last.append(message.text);
      else place.append(make("pre", { class: `live-text ${message.name}`, "data-stream": message.name }, message.text));
      return;
    }
    const { data } = message;
    if (data[VIEW]) {
      const element = make("div", { class: "output live-widget" });
      place.append(element);
      await python.widgets.show(data[VIEW].model_id, element);
    } else if (data["text/html"] ?? data["image/svg+xml"]) {
      const element = make("div", { class: "output text_html" });
      place.append(element);
      element.innerHTML = data["text/html"] ?? data["image/svg+xml"];
      for (const old of element.querySelectorAll("script")) { // one that comes as text does not run
        const script = make("script");
        for (const { name, value } of old.attributes) script.setAttribute(name, value);
        script.textContent = old.textContent;
        old.replaceWith(script);
      }
    } else if (data["image/png"]) {
      place.append(make("img", { src: `data:image/png;base64,${data["image/png"]}`, alt: data["text/plain"] ?? "" }));
    } else place.append(make("div", { class: "output text_plain highlight" }, make("pre", { class: "live-text" }, data["text/plain"] ?? "")));
  }

  function halt() {
    python?.end();
    python = null;
    current = null;
    if (root.dataset.live !== "off") say("Stopped. To run something starts Python anew, with nothing remembered.", "stopped");
  }

  async function started() {
    if (python) return python;
    say(`Starting Python in your browser (${megabytes} MB, once) …`, "starting");
    const mine = python = new Python((message, buffers) => { if (python === mine) heard(message, buffers); });
    const { ok, fatal } = await mine.ask("start");
    if (!ok && python === mine) {
      python = null;
      say(`Python did not start: ${fatal}.`, "failed");
    }
    return python === mine ? mine : null;
  }

  /** Run cells one after the other, up to the first that fails. */
  function run(wanted) {
    work = work.then(async () => {
      const mine = await started();
      if (!mine) return;
      for (const cell of wanted) {
        const number = cells.indexOf(cell) + 1;
        say(`Running cell ${number} of ${cells.length} …`, "running");
        cell.begin();
        current = cell;
        const { ok, fatal } = await mine.ask("run", { code: cell.code });
        await pending;
        if (python !== mine) return;
        if (cell.node) cell.node.dataset.ran = ok ? "well" : "badly";
        if (fatal) fail(cell.output, fatal);
        if (!ok) {
          current = null;
          say(`Cell ${number} failed${wanted.length > 1 ? "; the ones after it were not run" : ""}.`, "failed");
          return;
        }
      }
      current = null;
      say("Live: Python runs in your browser.", "ready");
    });
    return work;
  }

  function begin() {
    cells.forEach((cell) => cell.tools(run));
    run(cells);
  }

  say("", "off");
  if (new URLSearchParams(location.search).has("live")) begin();
}

const text = document.getElementById("live-cells")?.textContent;
if (text) live(text);
