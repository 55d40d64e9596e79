import { isPassing } from "./error-code.ts";

/** Returns a query's data. A temporary failure keeps the data. After any other failure it returns `undefined`. */
export function shownData<Data>(query: {
  readonly data: Data | undefined;
  readonly error: unknown;
}): Data | undefined {
  return query.error && !isPassing(query.error) ? undefined : query.data;
}

type State = { readonly data: unknown; readonly error: unknown };

/**
 * Returns whether a query was refused before it had data. Its page must not poll then: a poll would replace the error
 * by a placeholder, and screen readers would read the same error again.
 */
export function isRefused(state: State): boolean {
  return state.data === undefined && state.error !== null && !isPassing(state.error);
}

/** Returns a `refetchInterval` for a query. If the query is refused before it has data, its polls stop. */
export function unlessRefused(everyMs: number) {
  return ({ state }: { readonly state: State }) => (isRefused(state) ? false : everyMs);
}
