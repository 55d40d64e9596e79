import { anyOf } from "./any-of.ts";
import type { PacketRows, Statement } from "./packet.ts";
import type { RowDataPacket } from "./pool.ts";

type KeyValue = number | string | Buffer;
type Key = readonly KeyValue[];

/** How to read rows of a table or a join by key. */
type Lookup<Found> = {
  /** `SELECT … FROM …`, with the key among its columns. */
  readonly select: string;
  /** The columns of the key, as the condition names them. */
  readonly key: readonly string[];
  /** SQL after the condition: `AND …`, `FOR UPDATE`. */
  readonly ending?: string;
  readonly fromRow: (row: never) => Found;
};

/** The keys that a caller wants to read with a lookup. */
export type Ask<Found> = { readonly lookup: Lookup<Found>; readonly keys: readonly Key[] };

/** All asks of a caller, by names that it chooses. */
export type Asks = Readonly<Record<string, Ask<unknown>>>;
/** The answers, by the same names. */
export type Found<Asked extends Asks> = {
  readonly [Name in keyof Asked]: Asked[Name] extends Ask<infer Each> ? readonly Each[] : never;
};

/** Returns a function that asks for rows by key. One statement answers the asks of many callers. */
export function lookupOf<Row extends RowDataPacket, Found>(
  lookup: Omit<Lookup<Found>, "fromRow"> & { readonly fromRow: (row: Row) => Found },
): (...keys: readonly Key[]) => Ask<Found> {
  return (...keys) => ({ lookup, keys });
}

/** The statements that answer some asks, and a function that reads their answers. */
export type LookupPlan = {
  readonly statements: readonly Statement[];
  /** Takes the rows of each statement, in order. Returns a function that gives each ask its answer. */
  read(rows: PacketRows): (asks: Asks) => Readonly<Record<string, readonly unknown[]>>;
};

/** Plans one statement per lookup. */
export function planLookups(asked: readonly Asks[]): LookupPlan {
  const all = asked.flatMap((asks) => Object.values(asks)).filter(({ keys }) => keys.length > 0);
  const byLookup = Map.groupBy(all, ({ lookup }) => lookup);
  return {
    statements: Array.from(byLookup, ([lookup, asks]) => statementOf(lookup, asks)),
    read(rows) {
      const found = new Map(
        Array.from(byLookup.keys(), (lookup, index) => [lookup, byKey(lookup, rows[index] ?? [])]),
      );
      const answer = ({ lookup, keys: wanted }: Ask<unknown>) =>
        wanted.flatMap((key) => found.get(lookup)?.get(nameOf(key)) ?? []);
      return (asks) =>
        Object.fromEntries(Object.entries(asks).map(([name, ask]) => [name, answer(ask)]));
    },
  };
}

/**
 * Returns the statement of a lookup. If its keys differ only in the last value, that value becomes a list. MariaDB then
 * uses the index for any number of keys.
 */
function statementOf(
  { select, key, ending = "" }: Lookup<unknown>,
  asks: readonly Ask<unknown>[],
): Statement {
  const keys = asks.flatMap((ask) => ask.keys);
  const last = key.length - 1;
  const fixed = (values: Key) => values.slice(0, last);
  const [first = []] = keys;
  const prefix = nameOf(fixed(first));
  if (keys.some((values) => nameOf(fixed(values)) !== prefix)) {
    const { sql, values } = anyOf(key, keys);
    return { sql: `${select} WHERE ${sql} ${ending}`, values };
  }
  const conditions = key.map((column, place) => `${column} ${place < last ? "= ?" : "IN (?)"}`);
  return {
    sql: `${select} WHERE ${conditions.join(" AND ")} ${ending}`,
    values: [...fixed(first), keys.map((values) => values[last])],
  };
}

function byKey({ key, fromRow }: Lookup<unknown>, rows: readonly RowDataPacket[]) {
  const columns = key.map((column) => column.slice(column.indexOf(".") + 1));
  const byName = Map.groupBy(rows, (row) => nameOf(columns.map((column) => row[column])));
  return new Map(
    Array.from(byName, ([name, own]) => [name, own.map((row) => fromRow(row as never))]),
  );
}

/** Returns a text that is unique for each key, because only the last value of a key may hold a space. */
function nameOf(key: Key): string {
  return key.map((value) => (Buffer.isBuffer(value) ? value.toString("latin1") : value)).join(" ");
}
