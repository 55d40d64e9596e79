import { randomInt } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { isPortFree } from "../../dev-stack/src/free-port.ts";
import { namesIn, readText } from "../architecture/import-rule.ts";
import { builtDashboard } from "../dashboard/browser/harness-built.ts";
import { useFolder } from "../harness/use-started.ts";
import { isShown, readBlocks, runBlocks } from "./harness-page.ts";
import { ALERTS } from "./harness-prometheus.ts";

const PAGE = "docs/first-day.md";
const text = readText(PAGE);

const day = useFolder("first-day");
const blocks = readBlocks(text);
let page: ReturnType<typeof runBlocks>;
beforeAll(async () => {
  await builtDashboard();
  // The page takes each port from the environment, if it is set.
  const names = new Set(namesIn(text, /\$\{(\w+_PORT(?:_\d)?):-\d+\}/g));
  const ports = await findPorts(names.size);
  const settings = [...names].map((name, index) => [name, `${ports[index]}`]);
  const { PATH, HOME, XDG_CACHE_HOME, MYSQLD, REDIS_SERVER, TEMPORAL_CLI } = process.env;
  const programs = { PATH, HOME, XDG_CACHE_HOME, MYSQLD, REDIS_SERVER, TEMPORAL_CLI };
  // This `.curlrc` names a proxy that does not exist. Only the page's `no_proxy` keeps curl from it. A proxy variable
  // would affect apt-get too.
  writeFileSync(join(day, ".curlrc"), 'proxy = "http://127.0.0.1:1"\n');
  const env = { ...programs, ...Object.fromEntries(settings), DAY: day, CURL_HOME: day };
  page = runBlocks(blocks, env);
});
afterAll(() => page?.stop());

it("docs/first-day.md: every command does what the page says, in the order of the page", async () => {
  expect(blocks.length).toBeGreaterThan(15);
  // Without a process id, `listens` does not wait. So each call in the page must give one.
  expect(text).not.toMatch(/\blistens \w+\b(?! \$)/);
  const outputs = await page.outputs;
  for (const [place, { title, shown }] of blocks.entries()) {
    const output = outputs[place] ?? "";
    const hasEnded = place < outputs.length - 1;
    const message = `${title}, at the end of the product's log:\n${readLog().slice(-3_000)}`;
    expect(hasEnded, `${output}\n${message}`).toBe(true);
    if (!isShown(output, shown)) expect(`${title}\n${output}`).toBe(`${title}\n${shown}`);
  }
}, 600_000);

/**
 * Finds ports whose successors are also free, because Temporal's metrics use those. Some are used only half a minute
 * later, so all are below the ranges of outgoing connections and of `findFreePort`.
 */
async function findPorts(count: number): Promise<number[]> {
  const found: number[] = [];
  for (let port = randomInt(4_000, 9_000); found.length < count; port += 2) {
    if ((await isPortFree(port)) && (await isPortFree(port + 1))) found.push(port);
  }
  return found;
}

function readLog(): string {
  const log = join(day, "serve.log");
  return existsSync(log) ? readFileSync(log, "utf8") : "";
}

it("docs/first-day.md names only alerts that exist", () => {
  const named = namesIn(text, /`(Activity\w+)`/g);
  expect(named.length).toBeGreaterThan(4);
  expect(named.filter((name) => !ALERTS.includes(name))).toEqual([]);
});
