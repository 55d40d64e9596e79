import { join } from "node:path";
import { findFreePorts, LOOPBACK } from "./free-port.ts";
import { runCommand } from "./run-command.ts";
import { readGreeting } from "./server-greeting.ts";
import { createServerHost, type ServerHost } from "./server-host.ts";
import { StackError } from "./stack-error.ts";
import type { Launch } from "./unpacked-root.ts";
import {
  etcdOptions,
  vtctldOptions,
  vtgateOptions,
  vttabletOptions,
} from "./vitess-cluster-options.ts";
import { vitessUser } from "./vitess-place.ts";

export interface CreateVitessHosts {
  env: NodeJS.ProcessEnv;
  /** Has Vitess's programs, and is its user's. */
  folder: string;
  /** Keeps etcd's state, and the logs of all. */
  dataDir: string;
  etcd: Launch;
}

/** The processes of a Vitess cluster, which are the caller's to start. */
export interface VitessHosts {
  etcd: ServerHost;
  vtctld: ServerHost;
  vtgate: ServerHost;
  /** Where etcd serves, which knows all others. */
  topology: string;
  /** Of the vtgate, where any user may come in and no keyspace is chosen. */
  url: string;
  /** Makes a vttablet beside a MySQL. */
  createTablet(tablet: {
    alias: string;
    keyspace: string;
    shard: string;
    mysqlUrl: string;
  }): Promise<ServerHost>;
  /** Runs a command of vtctldclient and returns what it said; throws {@link StackError} when it fails. */
  control(...args: string[]): Promise<string>;
}

const ANSWER_MILLISECONDS = 1_000;

/** Finds ports for the processes, and makes them. */
export async function createVitessHosts(options: CreateVitessHosts): Promise<VitessHosts> {
  const { env, folder, dataDir, etcd } = options;
  const [client = 0, peer = 0, mysql = 0, ...others] = await findFreePorts(7);
  const [ctlHttp = 0, ctlGrpc = 0, gateHttp = 0, gateGrpc = 0] = others;
  const topology = `${LOOPBACK}:${client}`;
  const pages = (port: number) => () => answers(`http://${LOOPBACK}:${port}/debug/status`);
  const ofVitess = (program: string, name: string, args: readonly string[]) => ({
    ...{ title: name, command: join(folder, program), args },
    logFile: join(dataDir, `${name}.log`),
    env: { PATH: env.PATH, VTDATAROOT: folder },
    userId: vitessUser(),
  });
  const vtctldArgs = vtctldOptions(topology, { http: ctlHttp, grpc: ctlGrpc });
  const vtgateArgs = vtgateOptions(topology, { http: gateHttp, grpc: gateGrpc, mysql });
  return {
    topology,
    url: `mysql://activity@${LOOPBACK}:${mysql}`,
    etcd: createServerHost({
      ...{ title: "etcd", command: etcd.command, env: { PATH: env.PATH } },
      args: [...etcd.leading, ...etcdOptions(join(dataDir, "etcd"), { client, peer })],
      logFile: join(dataDir, "etcd.log"),
      isServing: () => answers(`http://${topology}/health`),
    }),
    vtctld: createServerHost({
      ...ofVitess("vtctld", "vtctld", vtctldArgs),
      isServing: pages(ctlHttp),
    }),
    vtgate: createServerHost({
      ...ofVitess("vtgate", "vtgate", vtgateArgs),
      isServing: async () =>
        (await readGreeting(LOOPBACK, mysql, ANSWER_MILLISECONDS)).kind === "server",
    }),
    async createTablet(tablet) {
      const [http = 0, grpc = 0] = await findFreePorts(2);
      const args = vttabletOptions(topology, { ...tablet, ports: { http, grpc } });
      const name = `vttablet-${tablet.alias}`;
      return createServerHost({ ...ofVitess("vttablet", name, args), isServing: pages(http) });
    },
    async control(...args) {
      const server = ["--server", `${LOOPBACK}:${ctlGrpc}`];
      const { status, lines } = await runCommand(join(folder, "vtctldclient"), [
        ...server,
        ...args,
      ]);
      if (status === 0) return lines.join("\n");
      const why = lines.slice(-3).join(" ").slice(0, 1_000);
      throw new StackError(`vtctldclient ${args.join(" ")} failed: ${why}`);
    },
  };
}

async function answers(url: string): Promise<boolean> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MILLISECONDS) });
    await answer.arrayBuffer();
    return answer.ok;
  } catch {
    return false;
  }
}
