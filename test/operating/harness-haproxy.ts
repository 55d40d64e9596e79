import { createProgress } from "../../dev-stack/src/progress.ts";
import { spawnHaproxy } from "../harness/haproxy.ts";

/** Where an instance listens, and where it says whether it serves. */
export type Instance = { readonly port: number; readonly healthPort: number };

/** A real HAProxy before two gateways and before two cores. */
export type Haproxy = {
  /** Whether it sends anything to the instance of this port. */
  isUp(port: number): Promise<boolean>;
  stop(): Promise<void>;
};

/**
 * Starts one that asks each instance's `/ready` twice a second, and repeats no request that was sent. It says in
 * X-Forwarded-For who a client is; of what goes to the cores it looks at no byte.
 */
export async function startHaproxy(
  ports: { readonly gateways: number; readonly cores: number },
  gateways: readonly Instance[],
  cores: readonly Instance[],
): Promise<Haproxy> {
  const serversOf = (instances: readonly Instance[]) =>
    instances
      .map(({ port, healthPort }) => `  server at-${port} 127.0.0.1:${port} port ${healthPort}`)
      .join("\n");
  const { isUp, stop } = await spawnHaproxy({
    ...{ env: process.env, progress: createProgress() },
    config: `
defaults
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  timeout check 5s
  option redispatch
  option httpchk GET /ready
  default-server check inter 500ms fall 2 rise 1
listen gateways
  mode http
  bind 127.0.0.1:${ports.gateways}
  option forwardfor
${serversOf(gateways)}
listen cores
  mode tcp
  balance leastconn
  bind 127.0.0.1:${ports.cores}
${serversOf(cores)}
`,
  });
  return { isUp: (port) => isUp(`at-${port}`), stop };
}
