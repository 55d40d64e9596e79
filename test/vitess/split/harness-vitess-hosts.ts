import { join } from "node:path";
import { DATABASE_NAME } from "../../../dev-stack/src/credentials.ts";
import { findOrFetch } from "../../../dev-stack/src/find-or-fetch.ts";
import { findFreePorts, LOOPBACK } from "../../../dev-stack/src/free-port.ts";
import { runCommand } from "../../../dev-stack/src/run-command.ts";
import { isGreeting } from "../../../dev-stack/src/server-greeting.ts";
import { StackError } from "../../../dev-stack/src/stack-error.ts";
import type { StackOptions } from "../../../dev-stack/src/stack-options.ts";
import { createServerHost, type ServerHost } from "../../harness/server-host.ts";
import { mysqlOptions } from "../harness-keyspaces.ts";
import { NO_STATEMENTS_IN_LOGS, NO_VALUES_IN_TABLET_LOGS, placeVitess } from "../harness-vitess.ts";

const PROGRAMS = ["vtctld", "vtctldclient", "vtgate", "vttablet"];
/** The only cell of the cluster. Vitess calls a group of near hosts a cell. */
export const CELL = "zone1";
export const CELL_ROOT = `/vitess/${CELL}`;

/**
 * Finds ports for the processes of a Vitess cluster and creates their hosts. The caller starts them. `dataDir` has
 * etcd's state and all logs.
 */
export async function createVitessHosts(dataDir: string, options: StackOptions) {
  const etcd = await findOrFetch(
    {
      ...{ title: "etcd", called: ["etcd"], packages: ["etcd-server"], folder: "etcd" },
      ...{ path: "usr/bin/etcd", megabytes: 250 },
    },
    options,
  );
  const { folder, launch, env, userId, remove } = await placeVitess(PROGRAMS, options);
  const [client = 0, peer = 0, mysql = 0, ...others] = await findFreePorts(7);
  const [ctlHttp = 0, ctlGrpc = 0, gateHttp = 0, gateGrpc = 0] = others;
  const topology = `${LOOPBACK}:${client}`;
  const [clientUrl, peerUrl] = [`http://${topology}`, `http://${LOOPBACK}:${peer}`];
  const etcdOptions = {
    "--name": "etcd",
    "--data-dir": join(dataDir, "etcd"),
    "--listen-client-urls": clientUrl,
    "--advertise-client-urls": clientUrl,
    "--listen-peer-urls": peerUrl,
    "--initial-advertise-peer-urls": peerUrl,
    "--initial-cluster": `etcd=${peerUrl}`,
    "--log-level": "warn",
  };
  const logFile = (title: string) => join(dataDir, `${title}.log`);

  /** Creates a host of Vitess on loopback. */
  function createVitessHost(
    program: string,
    title: string,
    [http, grpc]: readonly [number, number],
    own: Readonly<Record<string, string>>,
    further: readonly string[],
    isReady = () => isOk(`http://${LOOPBACK}:${http}/debug/status`),
  ): ServerHost {
    const common = {
      "--topo-implementation": "etcd2",
      "--topo-global-server-address": topology,
      "--topo-global-root": "/vitess/global",
      "--port": String(http),
      "--grpc-port": String(grpc),
      "--bind-address": LOOPBACK,
      "--grpc-bind-address": LOOPBACK,
      "--log-level": "warn",
    };
    const args = [...further, ...flagsOf({ ...common, ...own })];
    const how = { title, launch: launch(program), args, env, userId, isReady };
    return createServerHost({ ...how, logFile: logFile(title) });
  }

  const ofVtctld = { "--cell": CELL, "--service-map": "grpc-vtctl,grpc-vtctld" };
  const ofVtgate = {
    "--cell": CELL,
    "--cells-to-watch": CELL,
    "--service-map": "grpc-vtgateservice",
    "--mysql-auth-server-impl": "none",
    "--mysql-server-port": String(mysql),
    "--mysql-server-bind-address": LOOPBACK,
    // The vtgate listens once it has seen the primaries.
    "--tablet-types-to-wait": "primary",
    // Looks for vttablets more often than by default, which is once a minute.
    "--tablet-refresh-interval": "2s",
  };
  // Buffers requests while a shard changes, as production vtgates do.
  const buffering = ["--enable-buffer", ...NO_STATEMENTS_IN_LOGS];
  const gate = [gateHttp, gateGrpc] as const;
  return {
    /** The address of etcd, which knows all other processes. */
    topology,
    /** The URL of the vtgate. It accepts any user and chooses no keyspace. */
    url: `mysql://activity@${LOOPBACK}:${mysql}`,
    etcd: createServerHost({
      ...{ title: "etcd", launch: etcd, args: flagsOf(etcdOptions), env: { PATH: env.PATH } },
      ...{ logFile: logFile("etcd"), isReady: () => isOk(`${clientUrl}/health`) },
    }),
    vtctld: createVitessHost("vtctld", "vtctld", [ctlHttp, ctlGrpc], ofVtctld, []),
    vtgate: createVitessHost("vtgate", "vtgate", gate, ofVtgate, buffering, () =>
      isGreeting(mysql),
    ),
    /** Creates a vttablet for a MySQL whose database exists. */
    async createTablet(alias: string, keyspace: string, shard: string, mysqlUrl: string) {
      const [http = 0, grpc = 0] = await findFreePorts(2);
      const ofTablet = {
        "--tablet-path": alias,
        "--tablet-hostname": LOOPBACK,
        "--init-keyspace": keyspace,
        "--init-shard": shard,
        "--init-tablet-type": "replica",
        "--init-db-name-override": DATABASE_NAME,
        "--service-map": "grpc-queryservice,grpc-tabletmanager,grpc-updatestream",
        // A vtgate's transaction holds a connection of each vttablet that it used. The product has few, so 60 are
        // enough.
        "--queryserver-config-transaction-cap": "60",
      };
      const logging = [...NO_STATEMENTS_IN_LOGS, ...NO_VALUES_IN_TABLET_LOGS];
      const further = ["--unmanaged", ...logging, ...mysqlOptions(mysqlUrl)];
      return createVitessHost("vttablet", `vttablet-${alias}`, [http, grpc], ofTablet, further);
    },
    /** Runs a command of vtctldclient. Returns its output; throws {@link StackError} if it fails. */
    async control(...args: string[]): Promise<string> {
      const all = ["--server", `${LOOPBACK}:${ctlGrpc}`, ...args];
      const { status, lines } = await runCommand(join(folder, "vtctldclient"), all);
      if (status === 0) return lines.join("\n");
      const why = lines.slice(-3).join(" ").slice(0, 1_000);
      throw new StackError(`vtctldclient ${args.join(" ")} failed: ${why}`);
    },
    remove,
  };
}

/** Makes each option one word, because a value such as a range may begin with a dash and look like a flag. */
function flagsOf(options: Readonly<Record<string, string>>): string[] {
  return Object.entries(options).map(([name, value]) => `${name}=${value}`);
}

function isOk(url: string): Promise<boolean> {
  return fetch(url, { signal: AbortSignal.timeout(1_000) }).then(
    async (answer) => {
      await answer.arrayBuffer();
      return answer.ok;
    },
    () => false,
  );
}
