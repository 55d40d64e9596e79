import { chown, copyFile, cp, link, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { redactText } from "@activity/runtime/redaction";
import { findFreePort, LOOPBACK } from "../../dev-stack/src/free-port.ts";
import { isGreeting } from "../../dev-stack/src/server-greeting.ts";
import { startServer } from "../../dev-stack/src/server-process.ts";
import type { StackOptions } from "../../dev-stack/src/stack-options.ts";
import { buildGoModule } from "../harness/go-module.ts";
import { type Keyspace, mysqlOptions, readKeyspaces, SCHEMAS } from "./harness-keyspaces.ts";

interface StartVitess extends StackOptions {
  /** The MySQL (not MariaDB) of the shards, with a user who has every right. */
  mysqlUrl: string;
  /** The prefix of the shards' databases. Missing databases are created. */
  prefix: string;
  /** The shards of a sharded keyspace: 1, 2, 4 and so on up to 256. */
  shards: number;
  /** The port of the vtgate, by default any free one. */
  port?: number | undefined;
}

/** `vtcombo` has vtgate and vttablets in one program. */
export const VITESS_IN_ONE = ["vtcombo"];
/**
 * Keeps the values of failed statements out of a vtgate's log. A vttablet also needs the next options. docs/scale.md
 */
export const NO_STATEMENTS_IN_LOGS = ["--sql-max-length-errors=12"];
export const NO_VALUES_IN_TABLET_LOGS = [
  "--sanitize-log-messages",
  "--queryserver-config-terse-errors",
];
const START_SECONDS = 120;
/** The user `nobody`, because Vitess refuses to run as root. */
const USER = process.getuid?.() === 0 ? 65_534 : undefined;

/**
 * Starts Vitess with the VSchemas of the product: a vtgate and a primary vttablet for each shard, in one process. The
 * MySQL keeps their data after a kill or a stop.
 */
export async function startVitess(options: StartVitess) {
  const { mysqlUrl, prefix, shards, port = await findFreePort() } = options;
  const keyspaces = await readKeyspaces(prefix, shards);
  const { remove, ...placed } = await placeVitess(VITESS_IN_ONE, options);
  const schemas = join(placed.folder, "schemas");
  const logFile = join(placed.folder, "vitess.log");
  try {
    await cp(SCHEMAS, schemas, { recursive: true });
    const server = await startServer({
      ...{ title: "Vitess", launch: placed.launch("vtcombo"), env: placed.env, userId: USER },
      args: [...vitessOptions(keyspaces, schemas, port), ...mysqlOptions(mysqlUrl)],
      logFile,
      // The vtgate greets only once its vttablets serve, because of `--tablet-types-to-wait`.
      isReady: () => isGreeting(port),
      ...{ startSeconds: START_SECONDS, graceSeconds: 10, findCause },
    });
    /** The vtgate accepts any user and chooses no keyspace. */
    const url = `mysql://activity@${LOOPBACK}:${port}`;
    const end = (how: () => Promise<void>) => () => how().then(remove);
    const readLog = () => readFile(logFile, "utf8");
    const { ended } = server;
    return { url, keyspaces, readLog, ended, kill: end(server.kill), stop: end(server.stop) };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Builds programs of Vitess once per machine. Returns their cache folder. */
export function buildVitess(names: readonly string[], options: StackOptions): Promise<string> {
  return buildGoModule(
    {
      title: "Vitess",
      module: "vitess.io/vitess@v0.24.1",
      sum: "h1:4kaD5sTMGFkchkd4jYkbPGqMCMo0T/vzBOGo0KwIXrg=",
      packages: names.map((name) => `./go/cmd/${name}`),
      folder: `${names === VITESS_IN_ONE ? "vitess" : "vitess-cluster"}-v0.24.1`,
    },
    options,
  );
}

/**
 * Places programs of Vitess in a new folder of the user who runs them, because other users cannot read a cache folder
 * of root.
 */
export async function placeVitess(names: readonly string[], options: StackOptions) {
  const built = await buildVitess(names, options);
  const folder = await mkdtemp(join(tmpdir(), "personal-activity-vitess-"));
  if (USER !== undefined) await chown(folder, USER, USER);
  for (const name of names) {
    const [from, to] = [join(built, name), join(folder, name)];
    await link(from, to).catch(() => copyFile(from, to));
  }
  return {
    folder,
    userId: USER,
    env: { PATH: options.env.PATH, VTDATAROOT: folder },
    launch: (name: string) => ({ command: join(folder, name), leading: [] }),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Returns the options of `vtcombo`: a primary for each shard, on loopback only. */
function vitessOptions(keyspaces: readonly Keyspace[], schemas: string, port: number): string[] {
  const options = {
    "--proto-topo": keyspaces.map(topologyOf).join(" "),
    "--schema-dir": schemas,
    "--mysql-auth-server-impl": "none",
    "--mysql-server-port": String(port),
    "--mysql-server-bind-address": LOOPBACK,
    "--bind-address": LOOPBACK,
    // The vtgate listens once it has seen the primaries, or after the timeout.
    "--tablet-types-to-wait": "primary",
    "--gateway-initial-tablet-timeout": `${START_SECONDS}s`,
    // A vtgate's transaction holds a connection of each vttablet that it used. The product has few, so 60 are enough.
    "--queryserver-config-transaction-cap": "60",
    "--log-level": "warn",
  };
  return [...NO_STATEMENTS_IN_LOGS, ...NO_VALUES_IN_TABLET_LOGS, ...Object.entries(options).flat()];
}

/** Creates only primaries: a negative count creates no replica. One MySQL has all data, so nothing is copied. */
function topologyOf({ name, shards }: Keyspace): string {
  const parts = shards.map(
    (shard) => `shards { name: "${shard.name}" db_name_override: "${shard.database}" }`,
  );
  return `keyspaces { name: "${name}" ${parts.join(" ")} replica_count: 1 rdonly_count: -1 }`;
}

/** Finds the last error. Vitess logs one line of JSON for each event, and its usage after some errors. */
function findCause(log: string): string {
  const isError = (line: string) => line.startsWith("{") && line.includes('"level":"ERROR"');
  const last = log.split("\n").findLast(isError);
  return last === undefined ? "it gives no reason" : redactText(JSON.parse(last).msg).slice(0, 300);
}
