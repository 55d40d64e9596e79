import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openLogFile } from "./log-file.ts";

it("keeps what was written before the close, and drops what comes later", () => {
  const folder = mkdtempSync(join(tmpdir(), "activity-log-"));
  const log = openLogFile(join(folder, "product.log"));
  log.write("before\n");
  log.close();
  log.write("after\n");
  log.flush();
  expect(readFileSync(log.path, "utf8")).toBe("before\n");
  rmSync(folder, { recursive: true });
});
