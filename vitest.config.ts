import { defineConfig } from "vitest/config";

/** Minutes of retries against receivers that are killed: `npm run test:kit`. */
const KIT = "test/kit/**/*.test.ts";
/** What they measure is the time that others leave: a part of `npm test`, after all else. */
const FAIRNESS = ["test/delivery/fairness*.test.ts", "test/limits/flood.test.ts"];
const CRASH = "test/*/crash/*.test.ts";
/** `npm run test:crash`: what the requirement asks for, in forty minutes. */
const CRASH_FULL = {
  retries: { events: 5_000, accounts: 8, writtenPerLife: 120, answeredPerLife: 400, kills: 20 },
  all: { events: 1_000, accounts: 8, writtenPerLife: 60, answeredPerLife: 100, kills: 4 },
  writes: { kills: 20, answeredPerLife: 800 },
  events: 1_200,
  readOnlySeconds: 60,
  temporalAwaySeconds: 600,
  settleMinutes: 15,
};
/** `npm run test:crash:short`: every kill and every check, in minutes. */
const CRASH_SHORT = {
  retries: { events: 200, accounts: 2, writtenPerLife: 40, answeredPerLife: 50, kills: 2 },
  all: { events: 60, accounts: 2, writtenPerLife: 20, answeredPerLife: 20, kills: 1 },
  writes: { kills: 2, answeredPerLife: 400 },
  events: 300,
  readOnlySeconds: 20,
  temporalAwaySeconds: 20,
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
      crash("crash", CRASH_FULL, 1),
      // Mostly they wait for retries: one waits while another works.
      crash("crash-short", CRASH_SHORT, 2),
    ],
  },
});

/** The crash tests start what they kill; thousands of events side by side would starve each other. */
function crash(name: string, crashSize: typeof CRASH_FULL, maxWorkers: number) {
  const timeouts = { testTimeout: 60_000, expect: PATIENT };
  return { test: { name, include: [CRASH], provide: { crashSize }, maxWorkers, ...timeouts } };
}
