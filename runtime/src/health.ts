import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, Server, Socket } from "node:net";
import { type Environment, type Problem, readPort } from "./environment.ts";
import type { Log } from "./log.ts";

/** Where a process serves `/live` and `/ready`. */
export type HealthAddress = { readonly host: string; readonly port: number };

/** An open health port. */
export type OpenHealth = {
  /** The open port; `undefined` if there is none. */
  readonly port: number | undefined;
  close(): void;
};

/** The most open connections. One more closes the oldest, so a probe always gets an answer. */
const MAX_CONNECTIONS = 64;
/** How long a request may take to arrive, in milliseconds. */
const REQUEST_MS = 2_000;
const TIMEOUTS = {
  headersTimeout: REQUEST_MS,
  requestTimeout: REQUEST_MS,
  connectionsCheckingInterval: 500,
};
const NOT_FOUND = "not_found";

/** Reads HEALTH_PORT and HEALTH_HOST. Returns `undefined` if no port is given. Reports a wrong one. */
export function readHealthAddress(env: Environment, problem: Problem): HealthAddress | undefined {
  const port = readPort(env, "HEALTH_PORT", problem);
  return port === undefined ? undefined : { host: env.HEALTH_HOST || "127.0.0.1", port };
}

/**
 * Serves `/live` and `/ready` on their own port. `/live` answers 200 while the process can answer at all. `/ready`
 * answers 200 while `readState` returns `serving`, and 503 otherwise. The body of `/ready` shows operators the state in
 * `status`. Logs the open port. Without an address this does nothing. Rejects if it cannot open the port.
 */
export async function openHealth(
  address: HealthAddress | undefined,
  readState: () => string | Promise<string>,
  log: Pick<Log, "info">,
): Promise<OpenHealth> {
  if (address === undefined) return { port: undefined, close: () => undefined };
  const server = createServer(TIMEOUTS, async (request, response) => {
    const status = await statusOf(request.url ?? "", readState);
    const body = JSON.stringify({ status });
    response.writeHead(codeOf(status), {
      "Content-Type": "application/json; charset=utf-8",
      "Content-Length": Buffer.byteLength(body),
      // Each probe connects again, so that no connection delays the end of the process.
      Connection: "close",
    });
    response.end(body);
  });
  closeOldestBeyond(server, MAX_CONNECTIONS);
  // Does not keep a process alive that failed to start or is done.
  server.unref();
  await once(server.listen(address.port, address.host), "listening");
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  log.info("health is served", { port });
  return {
    port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/**
 * Closes the oldest connection beyond a maximum. It is most likely idle, because every answer closes its connection.
 */
function closeOldestBeyond(server: Server, maxConnections: number): void {
  const open = new Set<Socket>();
  server.on("connection", (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    const [oldest] = open;
    if (open.size > maxConnections) oldest?.destroy();
  });
}

function statusOf(url: string, readState: () => string | Promise<string>) {
  if (url === "/live") return "live";
  return url === "/ready" ? readState() : NOT_FOUND;
}

function codeOf(status: string): number {
  if (status === NOT_FOUND) return 404;
  return status === "live" || status === "serving" ? 200 : 503;
}
