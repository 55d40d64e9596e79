import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, expect, it, vi } from "vitest";
import { type OpenHealth, openHealth } from "./health.ts";

let health: OpenHealth;
afterEach(() => health.close());

async function open(port: number) {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined).resume();
  await once(socket, "connect");
  return socket;
}

it("answers a probe beside 200 connections that send nothing", async () => {
  health = await openHealth({ host: "127.0.0.1", port: 0 }, () => "serving", { info: vi.fn() });
  const { port = 0 } = health;
  const idle = await Promise.all(Array.from({ length: 200 }, () => open(port)));
  const response = await fetch(`http://127.0.0.1:${port}/live`);
  expect([response.status, await response.json()]).toEqual([200, { status: "live" }]);
  // The listener soon closes connections that send nothing.
  await Promise.all(idle.map((socket) => socket.closed || once(socket, "close")));
});

it("logs the open port, which the system chooses if HEALTH_PORT is 0", async () => {
  const info = vi.fn();
  health = await openHealth({ host: "127.0.0.1", port: 0 }, () => "serving", { info });
  expect(info.mock.calls).toEqual([["health is served", { port: health.port }]]);
});
