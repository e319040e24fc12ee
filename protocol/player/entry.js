/** How the player gets onto a page, and into a notebook. */

import { html, rested } from "./elements.js";
import { mount } from "./mount.js";

/** The data of a host: plain JSON, or base64 of it, gzipped, where a file is to be small. */
async function packed(script) {
  if (script.type.endsWith("json")) return JSON.parse(script.textContent);
  const bytes = Uint8Array.from(atob(script.textContent), (one) => one.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

/** Said in place of what cannot be shown, because its data are not what Python wrote. */
export const broken = (host) => host.replaceWith(html("p", { role: "alert" }, "This page was cut short or changed: it cannot be shown."));

/** Show every run of one kind that a static page holds; the host that owns the address opens at its `#step=`. */
export function start(page = document, show = mount, kind = ":not([data-kind])") {
  for (const host of page.querySelectorAll(`div.vp-host${kind}:not([data-mounted])`)) {
    host.dataset.mounted = "true";
    packed(host.querySelector("script")).then((data) => {
      const opts = { start: Number(host.dataset.start) };
      if ("address" in host.dataset) {
        addEventListener("error", ({ error }) => error && broken(host)); // data that fail at a later step
        opts.start = Number(location.hash.match(/(?:^#|&)step=(\d+)/)?.[1] ?? opts.start);
        opts.onstep = rested((index) => {
          const others = location.hash.slice(1).split("&").filter((part) => part && !part.startsWith("step="));
          history.replaceState(null, "", `#${[...others, `step=${index}`].join("&")}`);
        });
      }
      host.player = show(host, data, opts);
    }).catch(() => broken(host));
  }
}

/** A host in a notebook's output; the kernel hears where the reader came to rest, not every step on the way. */
export function attach({ model, el }, show = mount) {
  const host = html("div");
  el.append(host);
  const report = rested((index) => { model.set("index", index); model.save_changes(); });
  const build = () => {
    report.cancel();
    const old = host.player; // goes after the new one has come: what had the focus can have it again
    host.player = show(host, model.get("data"), { start: model.get("index"), onstep: report });
    old?.destroy();
  };
  const follow = () => host.player.go(model.get("index"), { quiet: true });
  build();
  model.on("change:data", build);
  model.on("change:index", follow);
  return () => {
    report.cancel();
    model.off("change:data", build);
    model.off("change:index", follow);
    host.player.destroy();
  };
}
