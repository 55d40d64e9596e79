import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { LOOPBACK } from "./free-port.ts";

/** Holds a folder for each keyspace of the product, with its `vschema.json`. */
export const SCHEMAS = fileURLToPath(new URL("../../server/src/database/vitess", import.meta.url));

/** A keyspace of Vitess: each of its shards is a database of the MySQL. */
export interface Keyspace {
  name: string;
  shards: readonly { name: string; database: string }[];
}

/** What one start of `vtcombo` depends on. */
export interface VitessPlaces {
  keyspaces: readonly Keyspace[];
  /** Holds a folder for each keyspace, with its `vschema.json`. */
  schemas: string;
  mysqlUrl: string;
  port: number;
  startSeconds: number;
}

/**
 * Reads which keyspaces there are from the folders of their VSchemas. A sharded one gets `shards` shards, another one;
 * their databases are named `prefix`, keyspace and number.
 */
export async function readKeyspaces(
  schemas: string,
  prefix: string,
  shards: number,
): Promise<Keyspace[]> {
  const names = (await readdir(schemas, { withFileTypes: true }))
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(schemas, name, "vschema.json"), "utf8");
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

/** Returns the options under which `vtcombo` serves: a primary for each shard, on loopback only. */
export function vitessOptions(places: VitessPlaces): string[] {
  const options = {
    "--proto-topo": places.keyspaces.map(topologyOf).join(" "),
    "--schema-dir": places.schemas,
    "--mysql-auth-server-impl": "none",
    "--mysql-server-port": String(places.port),
    "--mysql-server-bind-address": LOOPBACK,
    "--bind-address": LOOPBACK,
    // It listens once it has seen these, or when this time is over.
    "--tablet-types-to-wait": "primary",
    "--gateway-initial-tablet-timeout": `${places.startSeconds}s`,
    // Each transaction of a vtgate has a connection of each vttablet that it touched; the product has few.
    "--queryserver-config-transaction-cap": "60",
    "--log-level": "warn",
  };
  return [...Object.entries(options).flat(), ...mysqlOptions(places.mysqlUrl)];
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

/** A number below none makes no replica of the kind: with one MySQL behind all there is nothing to copy. */
function topologyOf({ name, shards }: Keyspace): string {
  const parts = shards.map(
    (shard) => `shards { name: "${shard.name}" db_name_override: "${shard.database}" }`,
  );
  return `keyspaces { name: "${name}" ${parts.join(" ")} replica_count: 1 rdonly_count: -1 }`;
}
