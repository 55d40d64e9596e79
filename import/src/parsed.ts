/** What reading one cell, or one row, of a person's file came to: a value, or one sentence why not. */
export type Parsed<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly reason: string };

/** Wraps a value that was read. */
export function accepted<Value>(value: Value): Parsed<Value> {
  return { ok: true, value };
}

/** Wraps the sentence that stands beside a refused row: which column, and what it accepts. */
export function refused(reason: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason };
}
