import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    name: "receiver-kit",
    include: ["test/**/*.test.ts"],
    testTimeout: 60_000,
    // Hooks fetch the servers and toolchains that the machine has not.
    hookTimeout: 600_000,
    // A poll tells what never comes, not what comes late on a busy machine.
    expect: { poll: { timeout: 15_000 } },
    // Mostly they wait, for leases to end. As many as the product's tests have: `npm test` runs them in one group.
    maxWorkers: 4,
  },
});
