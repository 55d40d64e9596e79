import { chromium } from "playwright-core";
import { createDashboardLink } from "../tools/demo/dashboard-link.ts";
import { makeAccounts } from "./load/targets.ts";
import { DASHBOARD_FILES, measureFirstLoad } from "./measure/first-load.ts";
import { quantile } from "./measure/sample.ts";
import { clientsOf } from "./product/start-product.ts";
import { atMost } from "./report/goal.ts";
import { table } from "./report/table.ts";
import { type Bench, runBench } from "./run/bench.ts";
import { startOneProcess } from "./sides/programs.ts";
import * as devStack from "./stack/dev-stack.ts";
import { startStore } from "./stack/servers.ts";

const [GOAL_KB, GOAL_MS] = [170, 1_000];
const settings = { full: { loads: 20 }, short: { loads: 3 }, options: { loads: 1 } };

/** Measures the size of the dashboard's first load, and the time from a link to the first page. */
await runBench({ name: "bench:dashboard", ...settings }, async (bench) => {
  const { progress, closeLater } = bench;
  const { loads } = bench.settings;
  if (!(await devStack.buildDashboard(progress))) throw new Error("the dashboard is not built");
  const { files, gzippedBytes } = measureFirstLoad(DASHBOARD_FILES);
  const { version, link } = await startDashboard(bench);
  const executablePath = await devStack.findChromium({ env: process.env, progress });
  const browser = await chromium.launch({ executablePath });
  closeLater(() => browser.close());

  /** Opens a link in a new window. Waits until the first step of the overview's checklist can be clicked. */
  const timeFirstPage = async (url: string) => {
    const context = await browser.newContext();
    const page = await context.newPage();
    const beganMs = performance.now();
    await page.goto(url, { waitUntil: "commit" });
    await page.getByRole("link", { name: "Create a key" }).click({ trial: true });
    const tookMs = performance.now() - beganMs;
    await context.close();
    return tookMs;
  };
  const timesMs: number[] = [];
  while (timesMs.length < loads) timesMs.push(await timeFirstPage(await link()));
  timesMs.sort((one, other) => one - other);
  const slowest = quantile(timesMs, 1).toFixed(0);
  const by = `${loads} loads by Chromium ${browser.version()}`;
  return {
    on: version,
    about: [`${by}, nothing cached; the slowest took ${slowest} ms.`],
    blocks: [
      table(files, [
        ["file", ({ name }) => name],
        ["KB gzipped", ({ gzippedBytes: bytes }) => bytes / 1_000, 1],
      ]),
    ],
    goals: [
      atMost("first load, gzipped", GOAL_KB, gzippedBytes / 1_000, "KB"),
      atMost("from a link to a usable first page, median", GOAL_MS, quantile(timesMs, 0.5), "ms"),
    ],
  };
});

/** Starts the product with an account. `link` creates a link into the account's dashboard. */
async function startDashboard(bench: Bench) {
  const store = await startStore(bench, "dashboard");
  const port = await devStack.findFreePort();
  const dashboard = { DASHBOARD_PORT: `${port}`, DASHBOARD_URL: `http://localhost:${port}` };
  const { corePort } = await startOneProcess(bench, "dashboard", { ...store.env, ...dashboard });
  const clients = clientsOf(corePort, store);
  const [accountId = ""] = await makeAccounts(clients, "dashboard", 1);
  return { version: store.version, link: () => createDashboardLink(clients, accountId) };
}
