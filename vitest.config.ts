import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/harness/longest-first.ts";
import { SlowestFiles } from "./test/harness/slowest-files.ts";

/** The image, and the files that deploy it, are linted and run: `npm run test:all -- deploy`. */
const DEPLOY = "test/deploy/*.test.ts";
/** These put load on the product or attack it, and measure the service of other clients. They run one by one. */
const FAIRNESS = [
  "test/delivery/fairness.test.ts",
  "test/limits/flood.test.ts",
  "test/core/door.test.ts",
  "test/operating/restarts.test.ts",
];
/** These wait for a minute, start whole programs, or download programs. CI runs them, `npm test` does not. */
const SLOW = [
  "test/dashboard/browser/{every-page,hostile-text,looks,owner-tasks}.test.ts",
  "test/delivery/{egress-proxy,packed-kit,sweep,temporal-namespace,worker-versions}.test.ts",
  "test/feed/changing-feeds.test.ts",
  "test/feed-client/{other-clients,overlay,packed}.test.ts",
  "test/limits/{sixty-seconds,redis-cluster}.test.ts",
  "test/operating/*.test.ts",
  "test/start/*.test.ts",
  "test/tools/*.test.ts",
  "test/wire/packed-client.test.ts",
  "receiver-kit/test/docs/other-languages.test.ts",
];
/** The previous version next to this one: `npm run test:all -- upgrade`. */
const UPGRADE = "test/upgrade/*.test.ts";
/**
 * On a real Vitess, a shard is split, and each kind of process is killed under load: `npm run test:all -- split`.
 */
const SPLIT = "test/vitess/split/*.test.ts";
/** Clients' histories while the network and the processes fail: `npm run test:all -- histories`. */
const HISTORIES = "test/histories/*.test.ts";
const ON_VITESS = "test/vitess/*.test.ts";
/**
 * The tests that use sharded data. Each file runs on its own Vitess of two shards: `npm run test:all -- vitess`. Tests
 * that count the packets or rows of one server, or that move its clock, are left out.
 */
const VITESS = [
  ON_VITESS,
  "server/src/database/migrate.integration.test.ts",
  "server/src/{account,account-deletion,api-key,delivery,delivery-stat}/*.integration.test.ts",
  "server/src/{dispatch,donation,endpoint,import,notice,platform-event}/*.integration.test.ts",
  "server/src/{service-credential,webhook-event,write}/*.integration.test.ts",
  "test/contract/*.test.ts",
  "test/delivery/{round-trip,sweep}.test.ts",
  "test/feed/{changing-feeds,order,waiting-polls}.test.ts",
];
const CRASH = "test/delivery/crash/*.test.ts";
const SHARDS = 2;
/** Crash tests mostly wait for retries. Two can wait while another works. */
const CRASH_WORKERS = 3;
/** More than the two cores: a file often waits, for a window, a lease or the start of a program. */
const WORKERS = 4;
const ENV = {
  // The compiled code is cached for the processes that tests start. This halves the time that Node takes to start.
  NODE_COMPILE_CACHE: fileURLToPath(new URL(".cache/node", import.meta.url)),
  // Otherwise gRPC asks the machine's proxy for Temporal on loopback.
  no_grpc_proxy: "127.0.0.1,localhost",
};
/** A poll must fail only if the result never comes, not if a busy machine is late. */
const PATIENT = { poll: { timeout: 15_000 } };
const BUILT = "test/harness/built-workflows.ts";
const ON_SERVERS = {
  env: ENV,
  globalSetup: ["test/harness/global-setup.ts", BUILT],
  testTimeout: 60_000,
  // Hooks download programs that the machine lacks.
  hookTimeout: 600_000,
  expect: PATIENT,
};
/** For tests that start the processes that they kill. */
const ON_OWN_SERVERS = { env: ENV, globalSetup: BUILT, testTimeout: 60_000, expect: PATIENT };
// The rules of test/architecture read files only, and test/simulation needs no server.
const REAL = ["**/*.integration.test.ts", "test/!(architecture|simulation)/**/*.test.ts"];
// The kit is a published package and has its own configuration.
const RECEIVER_KIT = "receiver-kit/**";
const NEVER = ["**/node_modules/**", "**/dist/**", ".cache/**", ".data/**", RECEIVER_KIT];

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
          // The same number as for `real`: vitest refuses a group of projects with different numbers of workers.
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
            DEPLOY,
            UPGRADE,
            SPLIT,
            HISTORIES,
            ON_VITESS,
          ],
          ...ON_SERVERS,
          // No file changes a module for the next one, so each worker loads the product once.
          isolate: false,
          maxWorkers: WORKERS,
        },
      },
      {
        test: {
          name: "slow",
          include: SLOW,
          // One slow file belongs to the receiver kit.
          exclude: [...NEVER.filter((each) => each !== RECEIVER_KIT), ...FAIRNESS],
          ...ON_SERVERS,
          // Longer than the harness waits for the start of a process, so that its error is shown.
          testTimeout: 180_000,
          isolate: false,
          maxWorkers: WORKERS,
        },
      },
      {
        test: {
          name: "fairness",
          include: FAIRNESS,
          ...ON_SERVERS,
          sequence: { groupOrder: 1 },
          maxWorkers: 1,
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
          name: "upgrade",
          include: [UPGRADE],
          ...ON_SERVERS,
          testTimeout: 540_000,
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
          include: [CRASH],
          provide: { shards: SHARDS },
          ...ON_OWN_SERVERS,
          maxWorkers: 1,
          // Runs after the other projects of `npm run test:all -- vitess`.
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
