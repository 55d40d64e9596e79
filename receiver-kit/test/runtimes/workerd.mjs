import { build } from "esbuild";
import { Miniflare } from "miniflare";

// Bundles the worker as wrangler does, without Node compatibility.
const { outputFiles } = await build({
  entryPoints: ["worker.mjs"],
  bundle: true,
  write: false,
  format: "esm",
  conditions: ["workerd", "worker", "browser"],
  platform: "browser",
});
const worker = new Miniflare({
  modules: true,
  script: outputFiles[0].text,
  compatibilityDate: "2026-01-01",
});
// Several requests at once and one after them: in Workers, requests can share values, but not promises.
const dispatch = () => worker.dispatchFetch("http://localhost/");
const responses = [...(await Promise.all([dispatch(), dispatch(), dispatch()])), await dispatch()];
const texts = await Promise.all(responses.map((response) => response.text()));
await worker.dispose();
const failed = responses.findIndex((response) => response.status !== 200);
if (failed >= 0) throw new Error(texts[failed]);
console.log(`${texts[0]}, in each of ${responses.length} requests`);
