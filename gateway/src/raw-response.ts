import type { Duplex } from "node:stream";
import { httpDate } from "./clock.ts";
import type { GatewayResponse } from "./gateway-response.ts";

/** Writes a response to a connection that the HTTP server no longer handles, and ends the connection. */
export function writeRawResponse(socket: Duplex, response: GatewayResponse, reason: string): void {
  const lines = [`HTTP/1.1 ${response.status} ${reason}`];
  for (let index = 0; index + 1 < response.headers.length; index += 2) {
    lines.push(`${response.headers[index]}: ${response.headers[index + 1]}`);
  }
  const body = response.body ?? "";
  lines.push(`Date: ${httpDate()}`, `Content-Length: ${Buffer.byteLength(body)}`);
  lines.push("Connection: close", "", "");
  socket.write(lines.join("\r\n"));
  socket.end(body);
  socket.resume();
  // Cuts a client that never closes its side.
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

const LINGER_MS = 1_000;
