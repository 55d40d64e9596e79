import { EventEmitter, once } from "node:events";
import http from "node:http";
import net, { type Socket } from "node:net";
import { expect, it } from "vitest";
import { listenLocally } from "../../../test/harness/listening.ts";
import { createConnections } from "./connections.ts";

it("knows a connection on the port of an earlier one that was reset, ADR 0037", () => {
  const connections = createConnections();
  const [earlier, later] = [1, 2].map(() =>
    Object.assign(new EventEmitter(), { remoteAddress: "192.0.2.1", remotePort: 7, destroy() {} }),
  ) as unknown as [Socket, Socket];
  connections.add(earlier);
  connections.add(later);
  earlier.emit("close");
  expect(connections.hasAsked({ socket: later } as http.IncomingMessage)).toBeDefined();
  later.emit("close");
});

it("cuts only connections without a request, ADR 0043", async () => {
  const connections = createConnections();
  const accepted: Socket[] = [];
  const server = http.createServer((request) => void connections.hasAsked(request));
  server.on("connection", (socket: Socket) => {
    connections.add(socket);
    accepted.push(socket);
  });
  const port = await listenLocally(server);
  const asked = once(server, "request");
  net.connect(port, "127.0.0.1").write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await asked;
  net.connect(port, "127.0.0.1");
  await expect.poll(() => accepted.length).toBe(2);

  connections.cutSilent();
  expect(accepted.map(({ destroyed }) => destroyed)).toEqual([false, true]);
  connections.cut();
  expect(accepted.map(({ destroyed }) => destroyed)).toEqual([true, true]);
  server.close();
});
