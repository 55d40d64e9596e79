import { expect, it } from "vitest";
import { readAudit } from "./audit-report.ts";

const URL = "https://example.com/advisories/1";
const OUTPUT = JSON.stringify({
  vulnerabilities: {
    inner: { via: [{ url: URL, title: "reads too much", severity: "high" }] },
    outer: { via: ["inner"] },
  },
});
const EXPLAINED = { advisory: URL, package: "inner", reason: "never called", until: "2026-12-01" };

it("counts a vulnerability once, however many packages it reaches", () => {
  const found = [`inner: high, reads too much, ${URL}`];
  expect(readAudit(OUTPUT, [], "2026-11-22")).toEqual({ kind: "asked", found, unused: [] });
});

it("omits an explained finding until its date, and reports it as expired afterwards", () => {
  const before = readAudit(OUTPUT, [EXPLAINED], "2026-11-30");
  expect(before).toEqual({ kind: "asked", found: [], unused: [] });
  const found = [`inner: high, reads too much, ${URL} (explained until 2026-12-01)`];
  const from = readAudit(OUTPUT, [EXPLAINED], "2026-12-01");
  expect(from).toEqual({ kind: "asked", found, unused: [] });
});

it("an explanation covers one package only, and unused explanations are listed", () => {
  const other = { ...EXPLAINED, package: "else" };
  expect(readAudit(OUTPUT, [other], "2026-11-22")).toMatchObject({
    found: [expect.stringContaining("inner")],
    unused: [URL],
  });
});

it.each([
  "",
  "not JSON",
  "null",
  '{"message":"502 Bad Gateway"}',
  '{"error":{"summary":"ENOTFOUND"}}',
])("takes %j for no answer", (output) => {
  expect(readAudit(output, [], "2026-11-22").kind).toBe("not_asked");
});
