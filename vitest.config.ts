import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/harness/longest-first.ts";
import { SlowestFiles } from "./test/harness/slowest-files.ts";

/** Minutes of retries against receivers that are killed: `npm run test:all -- kit`. */
const KIT = "test/kit/**/*.test.ts";
/** What is deployed, linted and run as it is: `npm run test:all -- deploy`. */
const DEPLOY = "test/deploy/*.test.ts";
/** Restarts under load: twice in `npm test`, ten times in `npm run test:all -- operating`. */
const RESTARTS = "test/operating/restarts.test.ts";
/** They load or attack, and measure what is left for others: one by one. */
const FAIRNESS = [
  "test/delivery/fairness.test.ts",
  "test/limits/flood.test.ts",
  "test/core/door.test.ts",
  RESTARTS,
];
/** What waits for a minute to pass, starts whole programs, or fetches others: in CI, and not in `npm test`. */
const SLOW = [
  "server/src/database/lost-connection.integration.test.ts",
  "test/core/{before-the-body,noted-later}.test.ts",
  "test/dashboard/browser/{looks,owner-tasks}.test.ts",
  "test/delivery/{egress-proxy,sweep,temporal-namespace,worker-versions}.test.ts",
  "test/feed/{changing-feeds,polling-story}.test.ts",
  "test/feed-client/{other-clients,overlay,packed}.test.ts",
  "test/limits/{sixty-seconds,redis-cluster}.test.ts",
  "test/operating/*.test.ts",
  "test/start/*.test.ts",
  "test/tools/*.test.ts",
  "test/wire/{openapi-client,packed-client}.test.ts",
];
/** The previous version next to this one: `npm run test:all -- upgrade`. */
const UPGRADE = "test/upgrade/*.test.ts";
/** Temporal as a cluster. Each of its processes is killed: `npm run test:all -- cluster`. */
const CLUSTER = "test/cluster/*.test.ts";
/**
 * A Vitess of processes. A shard is split, and each kind of process is killed under load: `npm run test:all -- split`.
 */
const SPLIT = "test/vitess/split/*.test.ts";
/** Clients' histories amid faults of every way between processes: `npm run test:all -- histories`. */
const HISTORIES = "test/histories/*.test.ts";
const ON_VITESS = "test/vitess/*.test.ts";
/** `npm run test:all -- vitess`: what of the product has a shard's part in it, each file on a Vitess of two shards of its own.
 * Not what counts packets or rows of one server, or moves its clock. */
const VITESS = [
  ON_VITESS,
  "server/src/database/migrate.integration.test.ts",
  "server/src/{account,account-deletion,api-key,delivery,delivery-stat}/*.integration.test.ts",
  "server/src/{dispatch,donation,endpoint,import,notice,platform-event}/*.integration.test.ts",
  "server/src/{service-credential,webhook-event,write}/*.integration.test.ts",
  "test/contract/*.test.ts",
  "test/delivery/{round-trip,sweep}.test.ts",
  "test/feed/{changing-feeds,kept-pages,order}.test.ts",
];
const CRASH = "test/*/crash/*.test.ts";
const KILLS = "test/delivery/crash/kills.test.ts";
const SHARDS = 2;
/** Crash tests mostly wait for retries, as the tests of the kit do: two wait while another works. */
const CRASH_WORKERS = 3;
/** Two cores have work for more: much of the time a file waits, for a window, a lease, a program that starts. */
const WORKERS = 4;
/** What the compiler made is kept for the processes that tests start: half the time that Node takes to start. */
const COMPILED = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL(".cache/node", import.meta.url)),
};
/** A poll tells what never comes, not what comes late on a busy machine. */
const PATIENT = { poll: { timeout: 15_000 } };
const BUILT = "test/harness/built-workflows.ts";
const ON_SERVERS = {
  env: COMPILED,
  globalSetup: ["test/harness/global-setup.ts", BUILT],
  testTimeout: 60_000,
  hookTimeout: 120_000,
  expect: PATIENT,
};
/** They start what they kill. */
const ON_OWN_SERVERS = { env: COMPILED, globalSetup: BUILT, testTimeout: 60_000, expect: PATIENT };
// The rules of test/architecture read files only, and test/simulation needs no server.
const REAL = ["**/*.integration.test.ts", "test/!(architecture|simulation)/**/*.test.ts"];
// The kit is a published package with a configuration of its own.
const NEVER = ["**/node_modules/**", "**/dist/**", ".cache/**", ".data/**", "receiver-kit/**"];

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    reporters: ["default", new SlowestFiles()],
    projects: [
      "receiver-kit",
      {
        test: {
          name: "unit",
          include: ["**/*.test.ts"],
          exclude: [...NEVER, ...REAL],
          // Beside the real ones: vitest refuses a group of projects whose numbers of workers differ.
          maxWorkers: WORKERS,
          isolate: false,
          // A property test of many long inputs takes seconds while other tests run.
          testTimeout: 30_000,
          expect: PATIENT,
        },
      },
      {
        test: {
          name: "real",
          include: REAL,
          exclude: [
            ...NEVER,
            CRASH,
            ...FAIRNESS,
            ...SLOW,
            KIT,
            DEPLOY,
            UPGRADE,
            CLUSTER,
            SPLIT,
            HISTORIES,
            ON_VITESS,
          ],
          ...ON_SERVERS,
          // No file changes a module for the next: each worker loads the product once.
          isolate: false,
          maxWorkers: WORKERS,
        },
      },
      {
        test: {
          name: "slow",
          include: SLOW,
          exclude: [...NEVER, ...FAIRNESS],
          ...ON_SERVERS,
          isolate: false,
          maxWorkers: WORKERS,
        },
      },
      {
        test: {
          name: "fairness",
          include: FAIRNESS,
          provide: { restartRounds: 2, isTemporalCluster: false },
          ...ON_SERVERS,
          sequence: { groupOrder: 1 },
          maxWorkers: 1,
        },
      },
      {
        test: {
          name: "kit",
          include: [KIT],
          ...ON_SERVERS,
          maxWorkers: CRASH_WORKERS,
        },
      },
      {
        test: {
          name: "deploy",
          include: [DEPLOY],
          globalSetup: "test/harness/global-setup.ts",
          testTimeout: 120_000,
          hookTimeout: 120_000,
          expect: PATIENT,
        },
      },
      {
        test: {
          name: "operating",
          include: [RESTARTS],
          provide: { restartRounds: 10, isTemporalCluster: true },
          ...ON_SERVERS,
        },
      },
      {
        test: {
          name: "upgrade",
          include: [UPGRADE],
          ...ON_SERVERS,
          testTimeout: 540_000,
        },
      },
      {
        test: {
          name: "cluster",
          include: [CLUSTER],
          ...ON_OWN_SERVERS,
        },
      },
      {
        test: {
          name: "split",
          include: [SPLIT],
          ...ON_OWN_SERVERS,
        },
      },
      {
        test: {
          name: "histories",
          include: [HISTORIES],
          ...ON_OWN_SERVERS,
          maxWorkers: 1,
        },
      },
      {
        test: {
          name: "vitess",
          include: VITESS,
          provide: { shards: SHARDS },
          ...ON_SERVERS,
          maxWorkers: 2,
        },
      },
      { test: { name: "crash", include: [CRASH], ...ON_OWN_SERVERS, maxWorkers: CRASH_WORKERS } },
      {
        test: {
          name: "crash-vitess",
          include: [KILLS],
          provide: { shards: SHARDS },
          ...ON_OWN_SERVERS,
          maxWorkers: 1,
          // After the others of `npm run test:all -- vitess`.
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
