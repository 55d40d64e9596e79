import { expect, it } from "vitest";
import { checkBulkRetry, MAX_TESTS, withTestAt } from "./owner-limits.ts";

const SECOND = 1_000_000;

it("admits ten tests in any minute, and says when the next one may be sent", () => {
  let times: number[] = [];
  for (let sent = 0; sent < MAX_TESTS; sent++) times = withTestAt(sent * SECOND, times);
  expect(times).toHaveLength(MAX_TESTS);
  expect(() => withTestAt(30 * SECOND, times)).toThrow(/in 30 s/);
  expect(withTestAt(60 * SECOND, times)).toHaveLength(MAX_TESTS);
});

it("admits one bulk retry a minute, and says when the next one may begin", () => {
  expect(() => checkBulkRetry(0, undefined)).not.toThrow();
  expect(() => checkBulkRetry(59 * SECOND, 0)).toThrow(/in 1 s/);
  expect(() => checkBulkRetry(60 * SECOND, 0)).not.toThrow();
});

it("makes no owner wait when the clock has stepped back", () => {
  const ahead = Array.from({ length: MAX_TESTS }, (_, place) => (3_600 + place) * SECOND);
  expect(withTestAt(SECOND, ahead)).toEqual([SECOND]);
  expect(() => checkBulkRetry(0, 3_600 * SECOND)).not.toThrow();
});
