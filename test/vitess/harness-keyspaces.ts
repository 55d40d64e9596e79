import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Holds a folder for each keyspace of the product, with its `vschema.json`. */
export const SCHEMAS = fileURLToPath(new URL("../../server/src/database/vitess", import.meta.url));

/** A keyspace of Vitess: each of its shards is a database of the MySQL. */
export interface Keyspace {
  name: string;
  shards: readonly { name: string; database: string }[];
}

/**
 * Reads which keyspaces there are from the folders of their VSchemas. A sharded one gets `shards` shards, another one;
 * their databases are named `prefix`, keyspace and number.
 */
export async function readKeyspaces(prefix: string, shards: number): Promise<Keyspace[]> {
  const names = (await readdir(SCHEMAS, { withFileTypes: true }))
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(SCHEMAS, name, "vschema.json"), "utf8");
      const { sharded = false }: { sharded?: boolean } = JSON.parse(text);
      const ranges = sharded ? shardNames(shards) : ["0"];
      const database = (_: string, index: number) => `${prefix}_${name}_${index}`;
      return {
        name,
        shards: ranges.map((range, index) => ({ name: range, database: database(range, index) })),
      };
    }),
  );
}

/** Names shards as Vitess does, by the first byte of the keyspace ids in them: `-80` and `80-` are two. */
export function shardNames(count: number): string[] {
  if (!Number.isInteger(Math.log2(count)) || count < 1 || count > 256) {
    throw new Error(`${count} is no number of shards: it must be 1, 2, 4 and so on up to 256`);
  }
  const bound = (index: number) =>
    index === 0 || index === count ? "" : ((index * 256) / count).toString(16).padStart(2, "0");
  return Array.from({ length: count }, (_, index) => `${bound(index)}-${bound(index + 1)}`);
}

/** Returns the options by which vttablets find their MySQL, as one user in all their roles. */
export function mysqlOptions(mysqlUrl: string): string[] {
  const { hostname, port, username, password } = new URL(mysqlUrl);
  const users = ["app", "appdebug", "allprivs", "dba", "filtered", "repl"].flatMap((role) => [
    ...[`--db-${role}-user`, decodeURIComponent(username)],
    ...[`--db-${role}-password`, decodeURIComponent(password)],
  ]);
  return [...["--db-host", hostname, "--db-port", port, "--db-charset", "utf8mb4"], ...users];
}
