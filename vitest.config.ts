import { defineConfig } from "vitest/config";

/** Minutes of retries against receivers that are killed: `npm run test:kit`. */
const KIT = "test/kit/**/*.test.ts";
/** What they measure is the time that others leave: a part of `npm test`, after all else. */
const FAIRNESS = ["test/delivery/fairness.test.ts", "test/limits/flood.test.ts"];
const CRASH = "test/delivery/crash/*.test.ts";
/** `npm run test:crash`: what the requirement asks for, in half an hour. */
const CRASH_FULL = {
  events: 5_000,
  accounts: 8,
  writtenPerLife: 120,
  answeredPerLife: 400,
  kills: 20,
  settlesEach: true,
  settleMinutes: 15,
};
/** `npm run test:crash:short`: every kill and every check, in minutes. */
const CRASH_SHORT = {
  events: 300,
  accounts: 2,
  writtenPerLife: 60,
  answeredPerLife: 50,
  kills: 2,
  settlesEach: false,
  settleMinutes: 4,
};
/** A poll tells what never comes, not what comes late on a busy machine. */
const PATIENT = { poll: { timeout: 15_000 } };
const REAL = ["**/*.integration.test.ts", "test/**/*.test.ts"];
// The kit is a published package with a configuration of its own.
const NEVER = ["**/node_modules/**", "**/dist/**", ".cache/**", ".data/**", "receiver-kit/**"];

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          include: ["**/*.test.ts"],
          exclude: [...NEVER, ...REAL],
          // A property test of many long inputs takes seconds beside others.
          testTimeout: 30_000,
          expect: PATIENT,
        },
      },
      {
        test: {
          name: "real",
          include: REAL,
          exclude: [...NEVER, CRASH, ...FAIRNESS, KIT],
          globalSetup: "test/harness/global-setup.ts",
          testTimeout: 60_000,
          hookTimeout: 120_000,
          expect: PATIENT,
          // Two cores: more workers than that only make the servers wait for each other.
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: "fairness",
          include: FAIRNESS,
          globalSetup: "test/harness/global-setup.ts",
          testTimeout: 60_000,
          hookTimeout: 120_000,
          expect: PATIENT,
          sequence: { groupOrder: 1 },
          maxWorkers: 1,
        },
      },
      {
        test: {
          name: "kit",
          include: [KIT],
          globalSetup: "test/harness/global-setup.ts",
          testTimeout: 60_000,
          hookTimeout: 120_000,
          expect: PATIENT,
        },
      },
      crash("crash", CRASH_FULL),
      crash("crash-short", CRASH_SHORT),
    ],
  },
});

/** The crash tests start what they kill; side by side they would starve each other. */
function crash(name: string, crashSize: typeof CRASH_FULL) {
  const timeouts = { testTimeout: 60_000, expect: PATIENT };
  return { test: { name, include: [CRASH], provide: { crashSize }, maxWorkers: 1, ...timeouts } };
}
