import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The tests of pure rules. None needs a server. */
export default defineConfig({
  root,
  // Finds the package in Stryker's copy, which has the mutants. The workspace's own links lead out of that copy.
  resolve: {
    alias: [{ find: /^@activity\/runtime\/(.*)$/, replacement: `${root}runtime/src/$1.ts` }],
  },
  test: {
    include: [
      "gateway/src/query/*.test.ts",
      "import/src/{amount,donation-date}.test.ts",
      "receiver-kit/test/core/*.test.ts",
      "runtime/src/public-address.test.ts",
      "server/src/{activity,admission}/*.test.ts",
      "server/src/donation/*.test.ts",
      "server/src/endpoint/{endpoint-url,signs-from}.test.ts",
      "test/contract/webhooks.test.ts",
      "test/delivery/{attempt-targets,delivery-request}.test.ts",
      "workflows/src/{http,workflow}/*.test.ts",
    ],
    exclude: ["**/*.integration.test.ts", "**/node_modules/**"],
  },
});
