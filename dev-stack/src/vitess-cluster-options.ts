import { DATABASE_NAME } from "./credentials.ts";
import { LOOPBACK } from "./free-port.ts";
import { mysqlOptions } from "./vitess-options.ts";

/** Where a process of the cluster listens: its pages and health, and calls of the others. */
export interface HostPorts {
  http: number;
  grpc: number;
}

/** The one cell of the cluster: what is near to each other. */
export const CELL = "zone1";
const ROOT = "/vitess/global";
export const CELL_ROOT = `/vitess/${CELL}`;

/** What VReplication reads: the binary log, with rows and GTIDs. Its rows are whole unless told. */
export function shardServerOptions(serverId: number): string[] {
  return [
    "--log-bin=binlog",
    `--server-id=${serverId}`,
    "--gtid-mode=ON",
    "--enforce-gtid-consistency=ON",
    // A machine's death is nobody's here.
    "--sync-binlog=0",
  ];
}

export function etcdOptions(dataDir: string, ports: { client: number; peer: number }): string[] {
  const [client, peer] = [ports.client, ports.peer].map((port) => `http://${LOOPBACK}:${port}`);
  return flagsOf({
    "--name": "etcd",
    "--data-dir": dataDir,
    "--listen-client-urls": client,
    "--advertise-client-urls": client,
    "--listen-peer-urls": peer,
    "--initial-advertise-peer-urls": peer,
    "--initial-cluster": `etcd=${peer}`,
    "--log-level": "warn",
  });
}

export function vtctldOptions(etcd: string, ports: HostPorts): string[] {
  return flagsOf({
    ...common(etcd, ports),
    "--cell": CELL,
    "--service-map": "grpc-vtctl,grpc-vtctld",
  });
}

/** A vttablet beside its MySQL, whose database it does not make itself. */
export function vttabletOptions(
  etcd: string,
  tablet: { alias: string; keyspace: string; shard: string; mysqlUrl: string; ports: HostPorts },
): string[] {
  return [
    "--unmanaged",
    ...flagsOf({
      ...common(etcd, tablet.ports),
      "--tablet-path": tablet.alias,
      "--tablet-hostname": LOOPBACK,
      "--init-keyspace": tablet.keyspace,
      // A range may begin with a dash.
      "--init-shard": tablet.shard,
      "--init-tablet-type": "replica",
      "--init-db-name-override": DATABASE_NAME,
      "--service-map": "grpc-queryservice,grpc-tabletmanager,grpc-updatestream",
      // Each transaction of a vtgate has a connection of each vttablet that it touched; the product has few.
      "--queryserver-config-transaction-cap": "60",
    }),
    ...mysqlOptions(tablet.mysqlUrl),
  ];
}

/** A vtgate that holds requests while a shard changes, as any does that is in use. */
export function vtgateOptions(etcd: string, ports: HostPorts & { mysql: number }): string[] {
  return [
    "--enable-buffer",
    ...flagsOf({
      ...common(etcd, ports),
      "--cell": CELL,
      "--cells-to-watch": CELL,
      "--service-map": "grpc-vtgateservice",
      "--mysql-auth-server-impl": "none",
      "--mysql-server-port": String(ports.mysql),
      "--mysql-server-bind-address": LOOPBACK,
      // It listens once it has seen these.
      "--tablet-types-to-wait": "primary",
      // It looks for new tablets once a minute unless told.
      "--tablet-refresh-interval": "2s",
    }),
  ];
}

function common(etcd: string, ports: HostPorts) {
  return {
    "--topo-implementation": "etcd2",
    "--topo-global-server-address": etcd,
    "--topo-global-root": ROOT,
    "--port": String(ports.http),
    "--grpc-port": String(ports.grpc),
    "--bind-address": LOOPBACK,
    "--grpc-bind-address": LOOPBACK,
    "--log-level": "warn",
  };
}

/** One word each, so that no value is taken for a flag. */
function flagsOf(options: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(options).map(([name, value]) => `${name}=${value}`);
}
