// Runs Python off the page's main thread. It hears `start`, `run` and `comm`, and posts what `shell.py` tells.

let shell;

const where = (name) => new URL(name, import.meta.url).href;

async function start() {
  const [{ loadPyodide }, packed] = await Promise.all([
    import(where("python/pyodide.mjs")),
    fetch(where("python/python.zip")).then((answer) => {
      if (!answer.ok) throw new Error(`python.zip: ${answer.status}`);
      return answer.arrayBuffer();
    }),
  ]);
  const py = await loadPyodide({ indexURL: where("python/") });
  py.unpackArchive(packed, "zip", { extractDir: "/lib/site" });
  py.runPython("import sys; sys.path.insert(0, '/lib/site')");
  shell = py.pyimport("live_shell");
  shell.start((text, buffers) => {
    const bytes = buffers.toJs();
    self.postMessage({ text, buffers: bytes });
  });
}

const jobs = {
  start,
  run: ({ code }) => shell.run(code),
  comm: ({ text, buffers }) => shell.heard(text, buffers),
};

// One message after the other: a pick waits for the cell that runs.
let last = Promise.resolve();
self.onmessage = ({ data }) => {
  last = last.then(async () => {
    try {
      self.postMessage({ done: data.id, ok: (await jobs[data.job](data)) ?? true });
    } catch (error) {
      self.postMessage({ done: data.id, ok: false, fatal: String(error) });
    }
  });
};
