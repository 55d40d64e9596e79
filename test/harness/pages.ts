import { expect } from "vitest";
import { expectCommonHeaders } from "./expectations.ts";
import type { ActivityJson, PageJson } from "./json.ts";
import type { TestStack } from "./stack.ts";

export async function readPage({ http }: Pick<TestStack, "http">, apiKey: string, query = "") {
  const answer = await http(`/api/v1/activity${query}`, { apiKey });
  expect(answer.status, answer.text).toBe(200);
  expectCommonHeaders(answer);
  return answer.json<PageJson>();
}

/** Reads all pages of a query. The pages use these limits in turn. Each page must move the cursor. */
export async function readAll(
  stack: Pick<TestStack, "http">,
  apiKey: string,
  query: string,
  limits: readonly number[] = [1],
): Promise<ActivityJson[]> {
  const all: ActivityJson[] = [];
  let cursor = "";
  for (let number = 0; ; number++) {
    const limit = limits[number % limits.length] ?? 0;
    const after = cursor && `&cursor=${cursor}`;
    const page = await readPage(stack, apiKey, `?limit=${limit}&${query}${after}`);
    expect(page.data.length).toBeLessThanOrEqual(limit);
    expect(page.pagination.next_cursor).not.toBe(cursor);
    all.push(...page.data);
    if (!page.pagination.has_more) return all;
    cursor = page.pagination.next_cursor ?? "";
  }
}
