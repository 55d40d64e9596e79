import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tryLock, waitForLock } from "./file-lock.ts";

it("gives a lock to one holder at a time and leaves only its file", async () => {
  const folder = await mkdtemp(join(tmpdir(), "file-lock-"));
  const path = join(folder, "lock");
  try {
    const first = tryLock(path);
    expect(first).toBeDefined();
    expect(tryLock(path)).toBeUndefined();
    const second = await waitForLock(path, () => first?.release());
    expect(tryLock(path)).toBeUndefined();
    second.release();
    expect(await readdir(folder)).toEqual(["lock"]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
