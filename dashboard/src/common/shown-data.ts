import { isPassing } from "./error-code.ts";

/** Returns what a query found: also while it fails for a while, and no longer once it was told that there is nothing. */
export function shownData<Data>(query: {
  readonly data: Data | undefined;
  readonly error: unknown;
}): Data | undefined {
  return query.error && !isPassing(query.error) ? undefined : query.data;
}
