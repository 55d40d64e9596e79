import { createLog, readConfig } from "@activity/server";
import { type Browser, chromium } from "playwright-core";
import { buildDashboard } from "../dev-stack/src/build-dashboard.ts";
import { cacheFolder } from "../dev-stack/src/cache-folder.ts";
import { createDashboardLink } from "../dev-stack/src/dashboard-link.ts";
import { createClients } from "../dev-stack/src/demo.ts";
import { findChromium } from "../dev-stack/src/find-chromium.ts";
import { findFreePort } from "../dev-stack/src/free-port.ts";
import { createProgress } from "../dev-stack/src/progress.ts";
import { startProduct } from "../tools/serve/product.ts";
import { readOptions, wholeNumber } from "./command-line.ts";
import { DASHBOARD_FILES, type FirstLoad, measureFirstLoad } from "./measure/first-load.ts";
import { atMost } from "./report/goal.ts";
import { describeMachine, machineLine } from "./report/machine.ts";
import { publish } from "./report/publish.ts";
import { GOAL_HEAD, goalRow, table } from "./report/table.ts";
import { runMain, stopOnSignal } from "./run-main.ts";
import { type Closing, createClosing } from "./stack/closing.ts";
import { startCoreStore } from "./stack/servers.ts";
import { makeAccounts } from "./stack/targets.ts";

const LOADS = 20;
const USAGE = `npm run bench:dashboard -- [--short] [--loads ${LOADS}]
  --short  three loads: only to see that it runs
Only a run of ${LOADS} loads is written to results/dashboard.*
`;
const GOAL_KB = 150;
const GOAL_MS = 1_000;
/** How long a browser took to the first page, in `loads` loads. */
type FirstPage = {
  readonly loads: number;
  readonly medianMs: number;
  readonly slowestMs: number;
  readonly browser: string;
};
const OPTIONS = {
  short: { type: "boolean", default: false },
  loads: { type: "string" },
} as const;
const progress = createProgress();

/** Measures the dashboard: what its first load weighs, and how long a browser takes from a link to the first page. */
async function main(loads: number): Promise<void> {
  if (!(await buildDashboard(progress))) throw new Error("the dashboard is not built");
  const firstLoad = measureFirstLoad(DASHBOARD_FILES);

  const closing = createClosing();
  stopOnSignal(closing.closeAll);
  try {
    const { version, link } = await startStack(closing);
    const program = await findChromium(process.env, cacheFolder(process.env), progress);
    const browser = await chromium.launch({ executablePath: program });
    closing.add(() => browser.close());
    const times: number[] = [];
    for (let load = 0; load < loads; load += 1)
      times.push(await timeFirstPage(browser, await link()));
    times.sort((a, b) => a - b);
    const firstPage = {
      loads,
      medianMs: times[Math.floor((loads - 1) / 2)] ?? 0,
      slowestMs: times[loads - 1] ?? 0,
      browser: `Chromium ${browser.version()}`,
    };
    const results = { machine: describeMachine(version), firstLoad, firstPage };
    await publish(results, toMarkdown(results), loads === LOADS ? "dashboard" : undefined);
  } finally {
    await closing.closeAll();
  }
}

/** Starts the product with an account; returns what makes links into its dashboard. */
async function startStack(closing: Closing) {
  const store = await startCoreStore("dashboard", closing, progress);
  const port = await findFreePort();
  const dashboard = { DASHBOARD_PORT: `${port}`, DASHBOARD_URL: `http://localhost:${port}` };
  const product = await startProduct({
    core: readConfig({ ...store.coreEnv, ...dashboard, CORE_PORT: "0" }),
    gateway: { host: "127.0.0.1", port: 0, trustedProxies: [] },
    log: createLog(() => undefined),
  });
  closing.add(product.stop);
  const clients = createClients(`http://127.0.0.1:${product.corePort}`, store.credential);
  const [accountId = ""] = await makeAccounts(clients, ["dashboard"]);
  const link = () => createDashboardLink(clients, accountId);
  return { version: store.databaseVersion, link };
}

/** Opens a link in a window of its own until the page of the keys has its list and its button. */
async function timeFirstPage(browser: Browser, link: string): Promise<number> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const beganAt = performance.now();
  await page.goto(link, { waitUntil: "commit" });
  await page.getByText("No active key").waitFor();
  await page.getByRole("button", { name: "Create key" }).click({ trial: true });
  const took = performance.now() - beganAt;
  await context.close();
  return took;
}

function toMarkdown({
  machine,
  firstLoad,
  firstPage,
}: {
  machine: ReturnType<typeof describeMachine>;
  firstLoad: FirstLoad;
  firstPage: FirstPage;
}): string {
  const { loads, medianMs, slowestMs, browser } = firstPage;
  const goals = [
    atMost("first load, gzipped", GOAL_KB, firstLoad.gzippedBytes / 1_000, "KB"),
    atMost("from a link to a usable first page, median", GOAL_MS, medianMs, "ms"),
  ];
  return [
    "# bench:dashboard",
    "",
    machineLine(machine),
    `${loads} loads by ${browser}, nothing cached; the slowest took ${slowestMs.toFixed(0)} ms.`,
    "",
    ...table(GOAL_HEAD, goals.map(goalRow)),
    "",
    ...table(
      ["file", "KB gzipped"],
      firstLoad.files.map(({ name, gzippedBytes }) => [name, (gzippedBytes / 1_000).toFixed(1)]),
    ),
    "",
  ].join("\n");
}

await runMain(USAGE, (args) => {
  const { short, loads } = readOptions(args, OPTIONS);
  return main(wholeNumber("loads", loads ?? (short ? "3" : `${LOADS}`), 1));
});
