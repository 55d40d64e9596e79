import { open } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, it, vi } from "vitest";
import { readFileState, readTextPieces } from "./text-pieces.ts";

it("says what to do about a file that a broken disk cannot read", async () => {
  const path = fileURLToPath(import.meta.url);
  const state = await readFileState(path);
  await using handle = await open(path);
  const read = vi.spyOn(Object.getPrototypeOf(handle), "read");
  read.mockRejectedValueOnce(Object.assign(new Error("read"), { code: "EIO" }));
  await expect(readTextPieces(path, state).next()).rejects.toThrow(
    `${path} cannot be read (EIO): copy it to another disk, then import it again.`,
  );
  read.mockRestore();
});
