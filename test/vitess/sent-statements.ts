import { channel } from "node:diagnostics_channel";
import { format } from "mysql2/promise";
import { withoutValues } from "../../server/src/database/without-values.ts";

type Message = { readonly query?: string; readonly values?: unknown };
/** A statement as it was sent, and its form without values. */
export type SentStatement = { readonly text: string; readonly shape: string };

/** The driver's own channels. */
const CHANNELS = ["mysql2:query", "mysql2:execute"].map((name) => channel(`tracing:${name}:start`));
const PLANNED = /^(SELECT|INSERT|UPDATE|DELETE)\b/;

/**
 * Returns the statements that this process sends while `story` runs, each statement of a packet separately. Of
 * statements that differ only in values it keeps the longest. Leaves out statements for which a vtgate makes no plan.
 */
export async function statementsSentIn(story: () => Promise<void>): Promise<SentStatement[]> {
  const sent = new Map<string, SentStatement>();
  const keep = (message: unknown) => {
    const { query = "", values } = message as Message;
    for (const statement of query.split(";\n")) {
      const text = withValues(statement.trim(), values);
      const shape = withoutValues(text);
      const known = sent.get(shape)?.text.length ?? 0;
      if (PLANNED.test(text) && text.length > known) sent.set(shape, { text, shape });
    }
  };
  for (const each of CHANNELS) each.subscribe(keep);
  try {
    await story();
  } finally {
    for (const each of CHANNELS) each.unsubscribe(keep);
  }
  return [...sent.values()];
}

/** Only prepared statements have separate values. Their numbers are wrapped with a type. */
function withValues(statement: string, values: unknown): string {
  if (!Array.isArray(values) || values.length === 0) return statement;
  const plain = values.map((each: unknown) =>
    typeof each === "object" && each !== null && "type" in each && "value" in each
      ? each.value
      : each,
  );
  return format(statement, plain as string[]);
}
