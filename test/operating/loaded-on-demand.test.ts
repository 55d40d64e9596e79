import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { ROOT } from "../architecture/import-rule.ts";

const PACKAGES = ["prom-client", "@opentelemetry"];

/** Loads the product in a process of its own, and opens metrics and traces. Counts the loaded files of each package. */
async function countLoaded(metrics: string, traces: string): Promise<number[]> {
  const text = `
    import { registerHooks } from "node:module";
    const urls = [];
    registerHooks({
      load(url, context, next) {
        urls.push(url);
        return next(url, context);
      },
    });
    await import("./tools/serve/product.ts");
    const { openMetrics } = await import("@activity/runtime/metrics-listener");
    const { openTraces } = await import("@activity/runtime/traces-exporter");
    await (await openMetrics(${metrics}, { info() {} })).close();
    await (await openTraces(${traces}, "test", console)).close();
    const countOf = (name) => urls.filter((url) => url.includes("/node_modules/" + name + "/")).length;
    console.log(JSON.stringify(${JSON.stringify(PACKAGES)}.map(countOf)));
    process.exit();`;
  const args = ["--input-type=module", "--eval", text];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT });
  return JSON.parse(stdout);
}

it("loads the packages of metrics and traces only where an address is given", async () => {
  expect(await countLoaded("undefined", "undefined")).toEqual([0, 0]);
  const opened = await countLoaded(
    '{ host: "127.0.0.1", port: 0 }',
    '{ endpoint: "http://127.0.0.1:1", ratio: 1 }',
  );
  expect(opened.map((count) => count > 0)).toEqual([true, true]);
});
