import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { ROOT } from "../architecture/import-rule.ts";

/** Loads the product in a process of its own, and opens metrics or traces. Counts the loaded files of a package. */
async function loadedOf(name: string, open: string): Promise<number> {
  const text = `
    import { registerHooks } from "node:module";
    let loaded = 0;
    registerHooks({
      load(url, context, next) {
        if (url.includes("/node_modules/${name}/")) loaded += 1;
        return next(url, context);
      },
    });
    await import("./tools/serve/product.ts");
    const { openMetrics } = await import("@activity/runtime/metrics-listener");
    const { openTraces } = await import("@activity/runtime/traces-exporter");
    await (await ${open}).close();
    console.log(loaded);
    process.exit();`;
  const args = ["--input-type=module", "--eval", text];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT });
  return Number(stdout);
}

it.each([
  ["prom-client", "openMetrics(undefined)", "openMetrics({ host: '127.0.0.1', port: 0 })"],
  [
    "@opentelemetry",
    "openTraces(undefined, 'test', console)",
    "openTraces({ endpoint: 'http://127.0.0.1:1', ratio: 1 }, 'test', console)",
  ],
])("loads %s only where an address is given", async (name, without, opened) => {
  expect(await loadedOf(name, without)).toBe(0);
  expect(await loadedOf(name, opened)).toBeGreaterThan(0);
});
