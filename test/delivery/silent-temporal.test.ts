import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { readDeliveryConfig, startDeliveries } from "@activity/workflows";
import { createRouterTransport } from "@connectrpc/connect";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

const MAIN = fileURLToPath(new URL("../../workflows/src/main.ts", import.meta.url));
/** Far above what a stop takes, far below what the system or the SDK gives a connection. */
const STOP_WITHIN_MS = 10_000;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGQUIT", "SIGUSR2"];

/** Accepts connections and never answers. */
const silent = createServer((socket) => sockets.push(socket.on("error", () => undefined)));
const sockets: Socket[] = [];
const started: ChildProcess[] = [];
let env: Record<string, string>;
beforeAll(async () => {
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  env = { TEMPORAL_ADDRESS: `127.0.0.1:${(silent.address() as AddressInfo).port}` };
});
beforeEach(() => {
  sockets.length = 0;
});
afterAll(async () => {
  for (const child of started) child.kill("SIGKILL");
  silent.close();
  for (const socket of sockets) socket.destroy();
});

const connected = () => expect.poll(() => sockets.length).toBeGreaterThan(0);
const within = (promise: Promise<unknown>) =>
  Promise.race([promise.then(() => "ended"), wait(STOP_WITHIN_MS, "goes on", { ref: false })]);

/** Starts deliveries that never come to ask the core for anything. */
function start() {
  const quiet = () => undefined;
  return startDeliveries({
    config: readDeliveryConfig(env),
    core: createRouterTransport(() => undefined),
    log: { info: quiet, warn: quiet, error: quiet },
  });
}

describe("deliveries whose Temporal accepts and never answers", () => {
  it("stop at once, and leave the signals to their process", async () => {
    const listeners = () => SIGNALS.map((signal) => process.listenerCount(signal));
    const before = listeners();
    const deliveries = start();
    await connected();
    expect(listeners()).toEqual(before);
    expect(await within(deliveries.stop())).toBe("ended");
  });

  it("end their process at SIGTERM", async () => {
    const child = spawn(process.execPath, [MAIN], {
      env: { ...process.env, ...env, CORE_CREDENTIAL: "act_svc_x" },
      stdio: "inherit",
    });
    started.push(child);
    const exited = once(child, "exit");
    await connected();
    child.kill("SIGTERM");
    expect(await within(exited)).toBe("ended");
    expect(await exited).toEqual([0, null]);
  });
});
