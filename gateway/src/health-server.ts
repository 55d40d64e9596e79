import { createServer, type Server } from "node:http";
import type { CoreState } from "./core-check.ts";

/**
 * Creates the server that says whether this gateway serves: 200 or 503, with the reason for who runs it. It has
 * a port of its own, apart from the clients', and asks nobody anything. It is not listening.
 */
export function createHealthServer(state: () => CoreState): Server {
  return createServer((_request, response) => {
    const status = state();
    const body = JSON.stringify({ status });
    response.writeHead(status === "serving" ? 200 : 503, {
      "Content-Type": "application/json; charset=utf-8",
      "Content-Length": Buffer.byteLength(body),
    });
    response.end(body);
  });
}
