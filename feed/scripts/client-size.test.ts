import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { measureClient } from "./client-size.ts";

const MAX_GZIPPED_BYTES = 6 * 1024;

it("the client has at most 6 KB compressed, and the package no dependency", async () => {
  expect((await measureClient()).gzipped).toBeLessThanOrEqual(MAX_GZIPPED_BYTES);
  const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  expect(manifest).not.toHaveProperty("dependencies");
  expect(manifest).not.toHaveProperty("peerDependencies");
});
