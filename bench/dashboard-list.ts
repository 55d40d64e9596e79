import { DeliveryService, type ListDeliveriesRequestSchema } from "@activity/proto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Client, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import mysql from "mysql2/promise";
import { createClients } from "../dev-stack/src/demo.ts";
import { createProgress } from "../dev-stack/src/progress.ts";
import { type FilledEvent, fillDeliveries } from "../test/harness/filled-deliveries.ts";
import { readOptions } from "./command-line.ts";
import { DELIVERIES, filtersOf } from "./dashboard-list/filters.ts";
import { readCpuSeconds } from "./measure/process-usage.ts";
import { Durations, type Sample } from "./measure/sample.ts";
import { atMost } from "./report/goal.ts";
import { describeMachine, machineLine } from "./report/machine.ts";
import { publish } from "./report/publish.ts";
import { GOAL_HEAD, goalRow, table } from "./report/table.ts";
import { runMain, stopOnSignal } from "./run-main.ts";
import { createClosing } from "./stack/closing.ts";
import { startCoreProcess } from "./stack/core-process.ts";
import { type BenchCoreStore, startCoreStore } from "./stack/servers.ts";
import { makeAccounts } from "./stack/targets.ts";

const USAGE = `npm run bench:dashboard:list -- [--short]
  --short  few deliveries: only to see that it runs
Only a run without options is written to results/dashboard-list.*
`;
const GOAL_MS = 100;
const FULL = { name: "full", deliveries: 1_000_000, calls: 100 };
const SHORT = { name: "short", deliveries: 20_000, calls: 5 };
type Settings = typeof FULL;
/** What a list costs: `cpuMs` is the processor time of core and database for one call. */
type List = Sample & { readonly cpuMs: number };

const progress = createProgress();

/** Measures lists of an account's deliveries through the core's port, by every filter. */
async function main(settings: Settings): Promise<void> {
  const closing = createClosing();
  stopOnSignal(closing.closeAll);
  try {
    const store = await startCoreStore("dashboard-list", closing, progress);
    const core = await startCoreProcess("dashboard-list-core", store.coreEnv);
    closing.add(core.stop);
    const baseUrl = `http://127.0.0.1:${core.port}`;
    const [accountId = ""] = await makeAccounts(createClients(baseUrl, store.credential), [
      "bench",
    ]);
    const middle = await progress.step("Writing deliveries", () =>
      fill(store, accountId, settings),
    );
    const authorization = `Bearer ${store.credential}`;
    const transport = createGrpcTransport({
      baseUrl,
      interceptors: [
        (next) => (request) => {
          request.header.set("authorization", authorization);
          return next(request);
        },
      ],
    });
    const client = createClient(DeliveryService, transport);
    const pids = [store.databasePid, core.pid];
    const lists: Record<string, List> = {};
    for (const [name, filter] of Object.entries(filtersOf(middle))) {
      const cpuSeconds = await readCpuSeconds(pids);
      const sample = await measure(client, { accountId, ...filter }, settings.calls);
      const cpuMs = ((await readCpuSeconds(pids)) - cpuSeconds) * 1000;
      lists[name] = { ...sample, cpuMs: cpuMs / settings.calls };
    }
    const results = { machine: describeMachine(store.databaseVersion), settings, lists };
    const keptAs = settings === FULL ? "dashboard-list" : undefined;
    await publish(results, toMarkdown(results), keptAs);
  } finally {
    await closing.closeAll();
  }
}

async function fill(
  store: BenchCoreStore,
  accountId: string,
  { deliveries }: Settings,
): Promise<FilledEvent> {
  const connection = await mysql.createConnection(store.databaseUrl);
  const database = {
    async queryShards<Row>(sql: string, values: unknown[] = []) {
      const [rows] = await connection.query(sql, values);
      return rows as Row[];
    },
  };
  const middle = await fillDeliveries(database, accountId, deliveries, DELIVERIES);
  await connection.end();
  return middle;
}

/** Reads a list's first and second page in turn, one call after the other. */
async function measure(
  client: Client<typeof DeliveryService>,
  filter: MessageInitShape<typeof ListDeliveriesRequestSchema>,
  calls: number,
): Promise<Sample> {
  const { nextPageToken } = await client.listDeliveries(filter);
  const durations = new Durations();
  const beganMs = performance.now();
  for (let call = 0; call < calls; call++) {
    const pageToken = call % 2 === 0 ? "" : nextPageToken;
    const sentMs = performance.now();
    await client.listDeliveries({ ...filter, pageToken });
    durations.add(performance.now() - sentMs);
  }
  return durations.toSample((performance.now() - beganMs) / 1000);
}

function toMarkdown({
  machine,
  settings,
  lists,
}: {
  machine: ReturnType<typeof describeMachine>;
  settings: Settings;
  lists: Readonly<Record<string, List>>;
}): string {
  const slowest = Math.max(...Object.values(lists).map(({ p99Ms }) => p99Ms));
  const rows = Object.entries(lists).map(([name, { p50Ms, p99Ms, cpuMs }]) => [
    name,
    p50Ms.toFixed(1),
    p99Ms.toFixed(1),
    cpuMs.toFixed(1),
  ]);
  return [
    `Lists of an account with ${settings.deliveries} deliveries to ten endpoints, 50 a page, by the core's port.`,
    "",
    machineLine(machine),
    "",
    ...table(GOAL_HEAD, [goalRow(atMost("slowest filter, p99", GOAL_MS, slowest, "ms"))]),
    "",
    ...table(["filter", "p50 ms", "p99 ms", "CPU ms: core, database"], rows),
    "",
  ].join("\n");
}

await runMain(USAGE, (args) => {
  const { short } = readOptions(args, { short: { type: "boolean", default: false } });
  return main(short ? SHORT : FULL);
});
