import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { createCursorKey } from "./activity-cursor.ts";
import { pageEtag } from "./activity-etag.ts";

const key = createCursorKey(randomBytes(32));
const account = { id: "abcdefghijklmno", feedVersion: 1 };
const query = { limit: 50, ascending: true, type: 0, platform: 0 };
const times = { sinceMicros: undefined, untilMicros: undefined };

it("ADR 0032: a page gets another etag once its core signs cursors with another key", () => {
  const etagOf = (of: typeof key) => pageEtag(of, account, { ...query, ...times }, undefined);
  expect(etagOf(createCursorKey(randomBytes(32)))).not.toBe(etagOf(key));
  expect(etagOf(key)).toBe(etagOf(key));
});
