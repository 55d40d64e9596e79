import { expect } from "vitest";
import { expectToMatchOpenapi } from "../contract/openapi-conformance.ts";
import type { HttpAnswer } from "./http.ts";
import type { ErrorJson } from "./json.ts";

const ERROR_TEXT_MAX = 400;
/** The most floods: three late ones in a row are rare even on a busy machine. */
const FLOODS = 3;

/** Checks what every answer must have: openapi.yaml describes it, and its headers keep it private. */
export function expectCommonHeaders(answer: HttpAnswer): void {
  expectToMatchOpenapi(answer);
  expect(answer.headers["x-request-id"]).toMatch(/^[A-Za-z0-9_-]{8,64}$/);
  expect(answer.headers["cache-control"]).toBe("private, no-store");
  expect(answer.headers["x-content-type-options"]).toBe("nosniff");
  const names = Object.keys(answer.headers);
  expect(names.filter((name) => name.startsWith("access-control-"))).toEqual([]);
}

/** Checks an error answer against the contract's error table. §7 */
export function expectError(answer: HttpAnswer, status: number, code: string): void {
  expectCommonHeaders(answer);
  expect(answer.status).toBe(status);
  const { error, ...rest } = answer.json<ErrorJson>();
  expect(rest).toEqual({});
  expect(error).toEqual({
    code,
    message: expect.any(String),
    request_id: answer.headers["x-request-id"],
  });
  expect(error.message.length).toBeGreaterThan(0);
  expect(error.message.length).toBeLessThan(ERROR_TEXT_MAX);
  const waits = status === 429 || status === 503;
  expect(answer.headers["retry-after"]).toBe(waits ? "60" : undefined);
  expect(answer.headers["www-authenticate"]).toBe(status === 401 ? "Bearer" : undefined);
}

/**
 * Floods new accounts, at most three times, until no answer is late. On a busy machine an answer may be so late that it
 * is a 503. Its request may have been counted, so the flood proves only that no more than `limit` were admitted.
 * `flood` returns the statuses of each new account's requests.
 */
export async function floodUntilNoneIsLate(
  limit: number,
  flood: () => Promise<number[][]>,
): Promise<number[][]> {
  for (let floods = 1; ; floods += 1) {
    const statuses = await flood();
    const admitted = statuses.map((each) => each.filter((status) => status === 200).length);
    expect(Math.max(...admitted)).toBeLessThanOrEqual(limit);
    if (floods === FLOODS || !statuses.flat().includes(503)) return statuses;
  }
}
