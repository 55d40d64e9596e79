import { expect, it } from "vitest";
import { createLog } from "./log.ts";

it("logs an error's class, code and stack, and not its message", () => {
  const lines: string[] = [];
  const cause = Object.assign(new TypeError("asked for\n what nobody may read"), { code: 14 });
  createLog((line) => lines.push(line)).error("start failed", { cause });
  const [line = ""] = lines;
  expect(JSON.parse(line)).toEqual({
    level: "error",
    message: "start failed",
    cause: { name: "TypeError", code: 14, at: expect.arrayContaining([expect.any(String)]) },
  });
  expect(line).toContain("log.test.ts");
  expect(line).not.toContain("nobody may read");
});
