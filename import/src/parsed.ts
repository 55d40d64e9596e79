/** The result of reading one cell or row: a value, or one sentence that says why there is none. */
export type Parsed<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly reason: string };

/** Wraps a value that was read. */
export function accepted<Value>(value: Value): Parsed<Value> {
  return { ok: true, value };
}

/** Wraps the reason of a refused row: the column, and what it accepts. */
export function refused(reason: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason };
}
