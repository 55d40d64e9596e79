import type { Pool } from "../../server/src/database/pool.ts";
import type { Link } from "./memory-locks.ts";
import { rowsOf, UnknownStatement } from "./memory-packets.ts";
import type { Tables } from "./memory-tables.ts";

type Answer = (error: Error | null, rows: readonly object[]) => void;

/** A part of a statement that reads one table: its name, and its conditions. */
const PART = / FROM (\w+)(?: FORCE INDEX \(\w+\))?\s+WHERE (.*?) ORDER BY/gs;
const CONDITION = /^(\w+) (IS NULL|=|<|>|>=)(?: \?)?$/;
type Row = { readonly id: string } & Readonly<Record<string, unknown>>;
type Value = string | number;

/**
 * Creates the pool of owners' reads on tables in memory. It evaluates the conditions of the product's statements, which
 * list rows by id. `onKill` registers work for the end of the process, which ends its statements.
 */
export function createMemoryPool(
  tables: Tables,
  link: Link,
  onKill: (work: () => void) => () => void,
): Pool {
  const query = (sql: string, values: readonly Value[], answer: Answer) => {
    const noKill = onKill(() => answer(new Error("the process has ended"), []));
    link({ name: "list", isWrite: false }, () => list(tables, sql, values))
      .finally(noKill)
      .then(
        (rows) => answer(null, rows),
        (error: Error) => answer(error, []),
      );
  };
  const nothing = () => undefined;
  // At the end of a simulation, a deadline on the real clock ends statements in flight. It calls these functions.
  const closing = { on: nothing, destroy: nothing, stream: { destroy: nothing } };
  const getConnection = (take: (error: null, acquired: object) => void) =>
    take(null, { query, release: nothing, ...closing });
  // The product's reads use nothing else of the driver.
  return { pool: { getConnection } } as unknown as Pool;
}

function list(tables: Tables, sql: string, values: readonly Value[]): readonly Row[] {
  const left = [...values];
  const parts = [...sql.matchAll(PART)];
  if (parts.length === 0) throw new UnknownStatement(`the simulation does not know ${sql}`);
  const [, table = ""] = parts[0] ?? [];
  const rows = rowsOf(tables, { sql: ` FROM ${table} `, values: [] }) as unknown as Row[];
  const found = parts.flatMap(([, , where = ""]) => {
    const conditions = where.split(" AND ").map((text) => conditionOf(text, left));
    return rows.filter((row) => conditions.every((isMet) => isMet(row)));
  });
  const sorted = found.sort((one, other) => (one.id < other.id ? -1 : 1));
  return sorted.slice(0, Number(/ LIMIT (\d+)$/.exec(sql)?.[1] ?? Infinity));
}

/** Returns a condition, with its value from the beginning of `left`. */
function conditionOf(text: string, left: Value[]): (row: Row) => boolean {
  const [, column = "", operator] = CONDITION.exec(text) ?? [];
  if (operator === "IS NULL") return (row) => (row[column] ?? null) === null;
  const value = left.shift() as Value;
  const test = {
    "=": (is: Value) => is === value,
    ">": (is: Value) => is > value,
    ">=": (is: Value) => is >= value,
    "<": (is: Value) => is < value,
  }[operator ?? ""];
  if (test === undefined) throw new UnknownStatement(`the simulation does not know ${text}`);
  return (row) => test(row[column] as Value);
}
