// Compiles an archive of Python in place, with the Pyodide that will run it: node compile.mjs PYODIDE.mjs ARCHIVE
//
// What the shell loads at its start is kept compiled only, `protocol` both ways, what is left as text only.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";

const [core, archive] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(core));
const py = await loadPyodide({ indexURL: dirname(core) });
const packed = new Uint8Array(readFileSync(archive));
py.FS.writeFile("/in.zip", packed);
try {
  py.unpackArchive(packed, "zip", { extractDir: "/lib/site" });
  py.runPython(`
import importlib.util, io, marshal, sys, zipfile
sys.path.insert(0, "/lib/site")
import live_shell, protocol.bench
loaded = {module.__file__ for module in [*sys.modules.values()] if getattr(module, "__file__", None)}
out = io.BytesIO()
with zipfile.ZipFile("/in.zip") as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new:
    def put(name, data):
        new.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    for name in old.namelist():
        data, path = old.read(name), f"/lib/site/{name}"
        own = name.startswith("protocol/")
        if own or path not in loaded:
            put(name, data)
        if name.endswith(".py") and (own or path in loaded):
            code = compile(data, path, "exec", dont_inherit=True)
            head = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + importlib.util.source_hash(data)
            put(importlib.util.cache_from_source(name) if own else f"{name}c", head + marshal.dumps(code))
open("/out.zip", "wb").write(out.getvalue())
`);
} catch (error) { // uncaught, node would print all of Pyodide
  console.error(String(error.message));
  process.exit(1);
}
writeFileSync(archive, py.FS.readFile("/out.zip"));
process.exit(0);
