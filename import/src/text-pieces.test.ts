import { appendFile, open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, vi } from "vitest";
import { useFolder } from "../../test/harness/use-started.ts";
import { readFileState, readTextPieces } from "./text-pieces.ts";

const folder = useFolder("text-pieces");

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

it("refuses a file that is still being written, before and between pieces", async () => {
  const path = join(folder, "written.csv");
  await writeFile(path, "id\n");
  const state = await readFileState(path);
  const pieces = readTextPieces(path, state);
  await pieces.next();
  await appendFile(path, "1\n");
  await pieces.next();
  await expect(pieces.next()).rejects.toThrow("changed while it was read");
  await expect(readTextPieces(path, state).next()).rejects.toThrow("changed while it was read");
});
