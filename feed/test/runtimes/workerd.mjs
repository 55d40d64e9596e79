import { build } from "esbuild";
import { Miniflare } from "miniflare";

// Bundles the worker as wrangler does, without Node compatibility.
const { outputFiles } = await build({
  ...{ entryPoints: ["worker.mjs"], bundle: true, write: false, format: "esm" },
  ...{ conditions: ["workerd", "worker", "browser"], platform: "browser" },
});
const [{ text: script }] = outputFiles;
const worker = new Miniflare({ modules: true, script, compatibilityDate: "2026-01-01" });
const { API_URL: baseUrl, API_KEY: apiKey } = process.env;
const url = `http://localhost/?${new URLSearchParams({ baseUrl, apiKey })}`;
// Several requests at once and one after them: a worker's requests must not wait for one another.
const dispatch = () => worker.dispatchFetch(url);
const responses = [...(await Promise.all([dispatch(), dispatch(), dispatch()])), await dispatch()];
const texts = await Promise.all(responses.map((response) => response.text()));
await worker.dispose();
const failed = responses.findIndex((response) => response.status !== 200);
if (failed >= 0) throw new Error(texts[failed]);
console.log(`${texts[0]}, in each of ${responses.length} requests`);
