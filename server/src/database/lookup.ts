import { anyOf } from "./any-of.ts";
import type { PacketRows, Statement } from "./packet.ts";
import type { RowDataPacket } from "./pool.ts";

type KeyValue = number | string | Buffer;
type Key = readonly KeyValue[];

/** Rows of one table that are read by key. */
type Lookup<Found> = {
  /** `SELECT … FROM …`; its columns hold those of the key. */
  readonly select: string;
  /** The columns of the key, as the condition names them. */
  readonly key: readonly string[];
  /** What stands behind the condition: `AND …`, `FOR UPDATE`. */
  readonly ending?: string;
  readonly fromRow: (row: never) => Found;
};

/** What one caller wants to read by a lookup. */
export type Ask<Found> = { readonly lookup: Lookup<Found>; readonly keys: readonly Key[] };

/** What one caller wants to read, by its own names. */
export type Asks = Readonly<Record<string, Ask<unknown>>>;
/** What was found, by the same names. */
export type Found<Asked extends Asks> = {
  readonly [Name in keyof Asked]: Asked[Name] extends Ask<infer Each> ? readonly Each[] : never;
};

/** Returns how to ask for rows by keys; the asks of many callers are answered by one statement. */
export function lookupOf<Row extends RowDataPacket, Found>(
  lookup: Omit<Lookup<Found>, "fromRow"> & { readonly fromRow: (row: Row) => Found },
): (...keys: readonly Key[]) => Ask<Found> {
  return (...keys) => ({ lookup, keys });
}

/** The statements that answer some asks, and how to take the answers from what they found. */
export type LookupPlan = {
  readonly statements: readonly Statement[];
  /** Reads the answers, of the statements in their order, and returns what each ask is answered with. */
  read(rows: PacketRows): (asks: Asks) => Readonly<Record<string, readonly unknown[]>>;
};

/** Plans one statement for each lookup that is asked for. */
export function planLookups(asked: readonly Asks[]): LookupPlan {
  const keys = new Map<Lookup<unknown>, Key[]>();
  for (const asks of asked) {
    for (const ask of Object.values(asks)) {
      if (ask.keys.length === 0) continue;
      const known = keys.get(ask.lookup);
      if (known === undefined) keys.set(ask.lookup, [...ask.keys]);
      else known.push(...ask.keys);
    }
  }
  return {
    statements: Array.from(keys, ([lookup, all]) => statementOf(lookup, all)),
    read(rows) {
      const found = new Map(
        Array.from(keys.keys(), (lookup, index) => [lookup, byKey(lookup, rows[index] ?? [])]),
      );
      const answer = ({ lookup, keys: wanted }: Ask<unknown>) =>
        wanted.flatMap((key) => found.get(lookup)?.get(nameOf(key)) ?? []);
      return (asks) =>
        Object.fromEntries(Object.entries(asks).map(([name, ask]) => [name, answer(ask)]));
    },
  };
}

/** Keys that differ in the last value only, however many, stand in a list of it: MariaDB goes by the index then too. */
function statementOf(
  { select, key, ending = "" }: Lookup<unknown>,
  keys: readonly Key[],
): Statement {
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
  const found = new Map<string, unknown[]>();
  for (const row of rows) {
    const name = nameOf(columns.map((column) => row[column]));
    const record = fromRow(row as never);
    const others = found.get(name);
    if (others === undefined) found.set(name, [record]);
    else others.push(record);
  }
  return found;
}

/** One text for each key; of its values only the last may hold a space. */
function nameOf(key: Key): string {
  return key.map((value) => (Buffer.isBuffer(value) ? value.toString("latin1") : value)).join(" ");
}
