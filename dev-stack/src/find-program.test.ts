import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { useFolder } from "../../test/harness/use-started.ts";
import { findProgram } from "./find-program.ts";

const PATH = useFolder("programs");
afterEach(() => vi.restoreAllMocks());

it("finds a program with the suffix that Windows gives it", async () => {
  const file = join(PATH, "our-server.exe");
  writeFileSync(file, "");
  chmodSync(file, 0o755);
  expect(await findProgram({ PATH }, ["our-server"])).toBeUndefined();
  vi.spyOn(process, "platform", "get").mockReturnValue("win32");
  expect(await findProgram({ PATH }, ["our-server"])).toBe(file);
});
