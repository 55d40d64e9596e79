import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { silentProgress } from "./progress.ts";
import { findTemporalServer } from "./temporal-server-program.ts";

it("says what Temporal's server is built with where there is no Go", async () => {
  const cacheDir = await mkdtemp(join(tmpdir(), "activity-no-go-"));
  const found = findTemporalServer({ PATH: "" }, cacheDir, silentProgress);
  await expect(found).rejects.toThrow(/no go was found on PATH\. It needs Go 1\.26\.8 or later/);
  expect((await readdir(cacheDir)).filter((name) => !name.endsWith(".lock"))).toEqual([]);
  await rm(cacheDir, { recursive: true });
});
