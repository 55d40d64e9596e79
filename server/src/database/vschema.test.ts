import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { isMigrationFile } from "./migration-file.ts";

type Keyspace = {
  readonly sharded: boolean;
  readonly vindexes?: Record<string, Vindex>;
  readonly tables: Record<string, { columnVindexes?: { column: string; name: string }[] }>;
};
type Vindex = {
  readonly type: string;
  readonly params?: Record<string, string>;
  readonly owner?: string;
};
/** The columns of each table. */
type Schema = Map<string, readonly string[]>;

const folder = (path: string) => new URL(`./${path}/`, import.meta.url);
const keyspace = (name: string): Keyspace =>
  JSON.parse(readFileSync(new URL("vschema.json", folder(`vitess/${name}`)), "utf8"));
const sqlOf = (path: string) =>
  readdirSync(folder(path))
    .filter(isMigrationFile)
    .map((name) => readFileSync(new URL(name, folder(path)), "utf8"));

const activity = keyspace("activity");
const lookup = keyspace("lookup");
const vindexes = Object.entries(activity.vindexes ?? {});
const created = schemaOf(sqlOf("migrations"));
const ofVindexes = schemaOf(sqlOf("vitess/lookup"));
const hasAccount = (table: string) => created.get(table)?.includes("account_no") === true;

describe("the VSchemas, ADR 0048", () => {
  it("shard exactly the tables that have account_no, by that column", () => {
    expect(activity.sharded).toBe(true);
    expect(activity.vindexes?.account_no).toEqual({ type: "xxhash" });
    const sharded = Object.entries(activity.tables);
    expect(sharded.map(([table]) => table).sort()).toEqual(
      [...created.keys()].filter(hasAccount).sort(),
    );
    for (const [table, { columnVindexes }] of sharded) {
      const primary = { column: "account_no", name: "account_no" };
      expect([table, columnVindexes?.[0]]).toEqual([table, primary]);
    }
  });

  it("keep all other tables, and those of the lookup vindexes, on one shard", () => {
    expect(lookup.sharded).toBe(false);
    const others = [...created.keys()].filter((table) => !hasAccount(table));
    expect(Object.keys(lookup.tables).sort()).toEqual(
      ["schema_migration", ...others, ...ofVindexes.keys()].sort(),
    );
  });

  it("name existing columns and lookup tables", () => {
    const owned = vindexes.filter(([, { owner }]) => owner !== undefined);
    for (const [name, { type, params, owner = "" }] of owned) {
      const { table, from = "", to = "" } = params ?? {};
      expect(type).toBe("consistent_lookup_unique");
      expect(table).toBe(`lookup.${name}`);
      expect(ofVindexes.get(name)).toEqual([from, to]);
      expect(activity.tables[owner]?.columnVindexes).toContainEqual({ column: from, name });
    }
    expect(owned.map(([name]) => name).sort()).toEqual([...ofVindexes.keys()].sort());
    for (const [table, { columnVindexes = [] }] of Object.entries(activity.tables)) {
      for (const { column, name } of columnVindexes) {
        expect(created.get(table)).toContain(column);
        expect(activity.vindexes).toHaveProperty(name);
      }
    }
  });

  it("have a lookup vindex for each key that is unique across accounts", () => {
    const unique = sqlOf("migrations").flatMap((sql) => {
      const table = tableOf(sql)[0]?.[0];
      if (table === undefined || !hasAccount(table)) return [];
      return [...sql.matchAll(/(?:PRIMARY|UNIQUE) KEY \w* ?\((\w+)/g)].map(
        ([, column]) => `${table}.${column}`,
      );
    });
    // Leaves out `account.id`: equal ids have equal account numbers (ids.ts), so their rows are on one shard.
    const alone = unique.filter((key) => !key.endsWith(".account_no") && key !== "account.id");
    const found = vindexes.flatMap(([, { owner, params }]) =>
      owner === undefined ? [] : [`${owner}.${params?.from}`],
    );
    expect(alone.sort()).toEqual(found.sort());
  });

  it("ignore nulls exactly in keys that may be null", () => {
    for (const [name, { owner, params }] of vindexes) {
      if (owner === undefined) continue;
      const sql = sqlOf("migrations").find((text) => tableOf(text)[0]?.[0] === owner) ?? "";
      const isNullable = new RegExp(`^  ${params?.from} .* NULL`, "m").test(
        sql.replaceAll("NOT NULL", ""),
      );
      expect([name, params?.ignore_nulls === "true"]).toEqual([name, isNullable]);
    }
  });
});

function schemaOf(statements: readonly string[]): Schema {
  return new Map(statements.flatMap((sql) => tableOf(sql)));
}

/** Reads the name and the columns of the table that a statement creates. */
function tableOf(sql: string): [table: string, columns: readonly string[]][] {
  const [, table, body = ""] =
    /^CREATE TABLE IF NOT EXISTS (\w+) \(\n([\s\S]*?)^\)/m.exec(sql) ?? [];
  if (table === undefined) return [];
  const columns = [...body.matchAll(/^ {2}(\w+) /gm)].map(([, name = ""]) => name);
  return [[table, columns.filter((name) => !["PRIMARY", "UNIQUE", "KEY"].includes(name))]];
}
