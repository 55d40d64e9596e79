import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, expect, it } from "vitest";
import { type OpenHealth, openHealth } from "./health.ts";

let health: OpenHealth;
afterEach(() => health.close());

async function open(port: number) {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined).resume();
  await once(socket, "connect");
  return socket;
}

it("answers a probe beside 200 connections that send nothing. ADR 0043", async () => {
  health = await openHealth({ host: "127.0.0.1", port: 0 }, () => "serving");
  const { port = 0 } = health;
  const idle = await Promise.all(Array.from({ length: 200 }, () => open(port)));
  const response = await fetch(`http://127.0.0.1:${port}/live`);
  expect([response.status, await response.json()]).toEqual([200, { status: "live" }]);
  // The other connections are closed soon.
  await Promise.all(idle.map((socket) => socket.closed || once(socket, "close")));
});
