// The page's twins of Python's widgets. Only anywidgets: they bring their own JavaScript.

const own = (target, path, value) => {
  const [last, ...rest] = [...path].reverse();
  const at = rest.reverse().reduce((one, key) => one[key], target);
  at[last] = value;
};

class Model {
  #state;
  #changed = new Set();
  #heard = new Map();

  constructor(state, send) {
    this.#state = state;
    this.post = send;
  }

  get(key) { return this.#state[key]; }

  set(key, value) {
    if (typeof key === "object") { for (const one of Object.entries(key)) this.set(...one); return; }
    if (this.#state[key] === value) return;
    this.#changed.add(key);
    this.take({ [key]: value });
  }

  take(state) {
    const keys = Object.keys(state).filter((key) => this.#state[key] !== state[key]);
    Object.assign(this.#state, state);
    for (const key of keys) this.tell(`change:${key}`, this, state[key]);
    if (keys.length) this.tell("change", this);
  }

  save_changes() {
    const state = Object.fromEntries([...this.#changed].map((key) => [key, this.#state[key]]));
    this.#changed.clear();
    if (Object.keys(state).length) this.post({ method: "update", state, buffer_paths: [] });
  }

  send(content, callbacks, buffers = []) { this.post({ method: "custom", content }, buffers); }

  on(names, listener) {
    for (const name of names.split(" ")) this.#heard.set(name, [...(this.#heard.get(name) ?? []), listener]);
  }

  off(names, listener) {
    if (!names) { this.#heard.clear(); return; }
    for (const name of names.split(" ")) {
      this.#heard.set(name, listener ? (this.#heard.get(name) ?? []).filter((one) => one !== listener) : []);
    }
  }

  tell(name, ...what) { for (const listener of this.#heard.get(name) ?? []) listener(...what); }
}

/** All widgets of one run of Python; `send(id, data, buffers)` reaches the Python twin. */
export class Widgets {
  #models = new Map();
  #modules = new Map();

  constructor(send) { this.send = send; }

  /** A message of a widget's line: it opens, says something, or closes. */
  heard({ type, id, data }, buffers) {
    const views = buffers.map((one) => new DataView(one.buffer, one.byteOffset, one.byteLength));
    (data.buffer_paths ?? []).forEach((path, n) => own(data.state, path, views[n]));
    const model = this.#models.get(id);
    if (type === "comm_open") this.#models.set(id, new Model(data.state ?? {}, (what, more) => this.send(id, what, more)));
    else if (type === "comm_close") this.#models.delete(id);
    else if (data.method === "update") model?.take(data.state);
    else if (data.method === "custom") model?.tell("msg:custom", data.content, views);
  }

  /** Show a widget in an element. */
  async show(id, element) {
    const model = this.#models.get(id);
    const script = model?.get("_esm");
    if (!script) {
      element.textContent = "This control answers in a notebook only: open the chapter in JupyterLite, at the top of the page.";
      return;
    }
    if (!this.#modules.has(script)) {
      const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
      this.#modules.set(script, import(address).finally(() => URL.revokeObjectURL(address)));
    }
    const { default: made } = await this.#modules.get(script);
    const widget = typeof made === "function" ? await made() : made;
    if (model.get("_css")) {
      const style = document.createElement("style");
      style.textContent = model.get("_css");
      element.append(style);
    }
    if (!model.begun) {
      model.begun = true;
      await widget.initialize?.({ model });
    }
    await widget.render?.({ model, el: element });
  }
}
