import { isPassing } from "./error-code.ts";

/** Returns a query's data. A temporary failure keeps the data. After any other failure it returns `undefined`. */
export function shownData<Data>(query: {
  readonly data: Data | undefined;
  readonly error: unknown;
}): Data | undefined {
  return query.error && !isPassing(query.error) ? undefined : query.data;
}
