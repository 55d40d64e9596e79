import { configDefaults, defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    name: "receiver-kit",
    include: ["test/**/*.test.ts"],
    // This test downloads Go and PHP, so it is one of the project's slow tests: `npm run test:all -- slow`.
    exclude: [...configDefaults.exclude, "test/docs/other-languages.test.ts"],
    testTimeout: 60_000,
    // Hooks download servers and toolchains that the machine lacks.
    hookTimeout: 600_000,
    // A poll must fail only if the result never comes, not if a busy machine is late.
    expect: { poll: { timeout: 15_000 } },
    // These tests mostly wait for leases to end. `npm test` runs them in one group with the product's tests, so both
    // must have the same number of workers.
    maxWorkers: 4,
  },
});
