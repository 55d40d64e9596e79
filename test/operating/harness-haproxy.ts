import { createProgress } from "../../dev-stack/src/progress.ts";
import type { Certificate } from "../delivery/harness-receiver-certificates.ts";
import { spawnHaproxy } from "../harness/haproxy.ts";

/** The ports of an instance, for calls and for health. */
type Instance = { readonly port: number; readonly healthPort: number };

/** A real HAProxy before two gateways and two cores. Clients use TLS to the gateways. */
export type Haproxy = Awaited<ReturnType<typeof startHaproxy>>;

/**
 * Starts a HAProxy that reads each instance's `/ready` twice a second and repeats no request. It ends the clients'
 * TLS and sets X-Forwarded-For. It forwards the cores' bytes unread.
 */
export async function startHaproxy(
  ports: { readonly gateways: number; readonly cores: number },
  certificate: Certificate,
  gateways: readonly Instance[],
  cores: readonly Instance[],
) {
  const serversOf = (instances: readonly Instance[]) =>
    instances
      .map(({ port, healthPort }) => `  server at-${port} 127.0.0.1:${port} port ${healthPort}`)
      .join("\n");
  const { isUp, stop } = await spawnHaproxy({
    ...{ env: process.env, progress: createProgress() },
    files: { "front.pem": certificate.cert + certificate.key },
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
  bind 127.0.0.1:${ports.gateways} ssl crt FOLDER/front.pem
  option forwardfor
${serversOf(gateways)}
listen cores
  mode tcp
  balance leastconn
  bind 127.0.0.1:${ports.cores}
${serversOf(cores)}
`,
  });
  /** Tells whether it sends traffic to the instance at this port. */
  return { isUp: (port: number) => isUp(`at-${port}`), stop };
}
