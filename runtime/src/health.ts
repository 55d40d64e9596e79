import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, Server, Socket } from "node:net";
import { type Environment, type Problem, readPort } from "./environment.ts";

/** Where a process says whether it lives and whether it serves. */
export type HealthAddress = { readonly host: string; readonly port: number };

/** A health port that is open. */
export type OpenHealth = {
  /** The port that was taken; `undefined` where there is none. */
  readonly port: number | undefined;
  close(): void;
};

/** Connections that may be open at once. One more closes the oldest, so a probe always gets in. */
const MAX_CONNECTIONS = 64;
/** How long a request may take to arrive, in milliseconds. */
const REQUEST_MS = 2_000;
const TIMEOUTS = {
  headersTimeout: REQUEST_MS,
  requestTimeout: REQUEST_MS,
  connectionsCheckingInterval: 500,
};
const NOT_FOUND = "not_found";

/** Reads HEALTH_PORT and HEALTH_HOST; `undefined` where no port is given. Tells `problem` of a wrong one. */
export function readHealthAddress(env: Environment, problem: Problem): HealthAddress | undefined {
  const port = readPort(env, "HEALTH_PORT", problem);
  return port === undefined ? undefined : { host: env.HEALTH_HOST || "127.0.0.1", port };
}

/**
 * Answers `/live` with 200 as long as the process does anything at all, and `/ready` with 200 while `readState` says
 * `serving`, with 503 otherwise; both with the state in `status`, for who runs it. It has a port of its own, apart
 * from those of clients and callers; where there is no address, it does nothing. Rejects when the port cannot be
 * opened.
 */
export async function openHealth(
  address: HealthAddress | undefined,
  readState: () => string | Promise<string>,
): Promise<OpenHealth> {
  if (address === undefined) return { port: undefined, close: () => undefined };
  const server = createServer(TIMEOUTS, async (request, response) => {
    const status = await statusOf(request.url ?? "", readState);
    const body = JSON.stringify({ status });
    response.writeHead(codeOf(status), {
      "Content-Type": "application/json; charset=utf-8",
      "Content-Length": Buffer.byteLength(body),
      // Each probe asks anew: none is held by a process that ends.
      Connection: "close",
    });
    response.end(body);
  });
  closeOldestBeyond(server, MAX_CONNECTIONS);
  // A process whose start fails ends, and one that is done too.
  server.unref();
  await once(server.listen(address.port, address.host), "listening");
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  return {
    port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Every answer closes its connection, so the oldest one is most likely idle. */
function closeOldestBeyond(server: Server, most: number): void {
  const open = new Set<Socket>();
  server.on("connection", (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    const [oldest] = open;
    if (open.size > most) oldest?.destroy();
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
