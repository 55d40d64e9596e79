import { defineConfig } from "vitest/config";

/** Minutes of kills: `npm run test:crash`. */
const CRASH = "test/delivery/crash.test.ts";
/** Minutes of retries against receivers that are killed: `npm run test:kit`. */
const KIT = "test/kit/**/*.test.ts";
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
        },
      },
      {
        test: {
          name: "real",
          include: REAL,
          exclude: [...NEVER, CRASH, KIT],
          globalSetup: "test/harness/global-setup.ts",
          testTimeout: 60_000,
          hookTimeout: 120_000,
          // Two cores: more workers than that only make the servers wait for each other.
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: "crash",
          include: [CRASH],
          globalSetup: "test/harness/global-setup.ts",
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: "kit",
          include: [KIT],
          globalSetup: "test/harness/global-setup.ts",
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
