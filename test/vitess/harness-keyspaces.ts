import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder with a `vschema.json` in a folder of each keyspace. */
export const SCHEMAS = fileURLToPath(new URL("../../server/src/database/vitess", import.meta.url));

/** A keyspace of Vitess. Each of its shards is a database of the MySQL. */
export interface Keyspace {
  name: string;
  shards: readonly { name: string; database: string }[];
}

/**
 * Reads the keyspaces from the folders of their VSchemas. A sharded keyspace gets `shards` shards, any other gets one.
 * Database names are made of `prefix`, keyspace and number.
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
      const database = (index: number) => `${prefix}_${name}_${index}`;
      return {
        name,
        shards: ranges.map((range, index) => ({ name: range, database: database(index) })),
      };
    }),
  );
}

/** Names shards as Vitess does, by the first byte of their keyspace ids. Two shards are `-80` and `80-`. */
export function shardNames(count: number): string[] {
  const bound = (index: number) =>
    index === 0 || index === count ? "" : ((index * 256) / count).toString(16).padStart(2, "0");
  return Array.from({ length: count }, (_, index) => `${bound(index)}-${bound(index + 1)}`);
}

/** Returns the options with which vttablets connect to their MySQL, as one user in every role. */
export function mysqlOptions(mysqlUrl: string): string[] {
  const { hostname, port, username, password } = new URL(mysqlUrl);
  const users = ["app", "appdebug", "allprivs", "dba", "filtered", "repl"].flatMap((role) => [
    ...[`--db-${role}-user`, decodeURIComponent(username)],
    ...[`--db-${role}-password`, decodeURIComponent(password)],
  ]);
  return [...["--db-host", hostname, "--db-port", port, "--db-charset", "utf8mb4"], ...users];
}
