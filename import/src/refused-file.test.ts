import { open, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { useFolder } from "../../test/harness/use-started.ts";
import { checkRefusedPath, createRefusedFile } from "./refused-file.ts";

const folder = useFolder("refused");

function refusedFile(name: string, header: readonly string[], path?: string) {
  const source = { path: join(folder, name), sizeBytes: 0, hasByteOrderMark: false };
  const file = { ...source, separator: ",", header, async *readRows() {} } as const;
  return createRefusedFile(file, path);
}

it("is one file of whole lines, also if rows are refused at once here and by the core", async () => {
  const refused = refusedFile("a.csv", ["id"]);
  const ids = ["1".repeat(100), "2".repeat(100)];
  // Node writes over 512 KiB in parts.
  const rowsOf = (id: string) => Array(8_000).fill({ row: { line: 2, cells: [id] }, reason: "no" });
  await Promise.all(ids.map((id) => refused.add(rowsOf(id))));
  await refused.close();
  expect(refused.path).toBe(join(folder, "a.refused.csv"));
  expect(await readdir(folder)).toEqual(["a.refused.csv"]);
  const lines = (await readFile(join(folder, "a.refused.csv"), "utf8")).split("\r\n");
  expect(lines).toHaveLength(16_002);
  const whole = ids.map((id) => `no,2,${id}`);
  expect([...new Set(lines)].sort()).toEqual(["", ...whole, "reason,line,id"]);
});

it("is closed without an error if it could not be made", async () => {
  const refused = refusedFile("b.csv", ["id"], join(folder, "none", "b.csv"));
  const row = { row: { line: 2, cells: ["1"] }, reason: "no" };
  await expect(refused.add([row])).rejects.toThrow(/cannot be made/);
  await refused.close();
  expect(refused.path).toBeUndefined();
});

it.each([1, 2])("asks for space if its append number %i fails, and is closed", async (failing) => {
  await using handle = await open("/dev/null");
  const full = Object.assign(new Error("write"), { code: "ENOSPC" });
  const spy = vi.spyOn(Object.getPrototypeOf(handle), "appendFile");
  if (failing === 2) spy.mockResolvedValueOnce(undefined);
  spy.mockRejectedValueOnce(full);
  const refused = refusedFile("full.csv", ["id"]);
  const row = { row: { line: 2, cells: ["1"] }, reason: "no" };
  await expect(refused.add([row]).finally(() => refused.close())).rejects.toThrow(
    /full\.refused(-\d)?\.csv cannot be written \(ENOSPC\): free space/,
  );
  expect(refused.path).toBeUndefined();
  spy.mockRestore();
});

it("is not left behind by the check of its path, which refuses a file that exists", async () => {
  const path = join(folder, "d.csv");
  await checkRefusedPath(path);
  expect(await readdir(folder)).not.toContain("d.csv");
  await writeFile(path, "corrections");
  await expect(checkRefusedPath(path)).rejects.toThrow(/exists already/);
  expect(await readFile(path, "utf8")).toBe("corrections");
});

it("keeps the lines of the first file when corrections are refused again", async () => {
  const refused = refusedFile("c.csv", ["reason", "line", "id"]);
  await refused.add([{ row: { line: 2, cells: ["no", "7", "1"] }, reason: "still no" }]);
  await refused.close();
  expect(await readFile(join(folder, "c.refused.csv"), "utf8")).toBe(
    "reason,line,id\r\nstill no,7,1\r\n",
  );
});
