import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { DispatchService } from "@activity/proto";
import { readDeliveryConfig, startDeliveries } from "@activity/workflows";
import { type ConnectRouter, createRouterTransport } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { makeCertificates } from "./harness-receiver-certificates.ts";

const MAIN = fileURLToPath(new URL("../../workflows/src/main.ts", import.meta.url));
/** Much longer than a stop takes, and much shorter than the connection timeouts of the system and the SDK. */
const STOP_WITHIN_MS = 10_000;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGQUIT", "SIGUSR2"];

let silent: Server;
let sockets: Socket[];
let folder: string;
let env: Record<string, string>;
const started: ChildProcess[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "activity-silent-"));
  await writeFile(join(folder, "ca.pem"), makeCertificates().ca);
});
// Each test has its own server, which accepts connections and never answers. A stopped process may still try to
// connect.
beforeEach(async () => {
  const own: Socket[] = [];
  sockets = own;
  silent = createServer((socket) => own.push(socket.on("error", () => undefined)));
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  env = {
    TEMPORAL_ADDRESS: `127.0.0.1:${(silent.address() as AddressInfo).port}`,
    ALLOW_UNSAFE_TARGETS: "development",
  };
});
afterEach(() => {
  for (const child of started) child.kill("SIGKILL");
  silent.close();
  for (const socket of sockets) socket.destroy();
});
afterAll(() => rm(folder, { recursive: true }));

const connected = () => expect.poll(() => sockets.length).toBeGreaterThan(0);
const within = (promise: Promise<unknown>) =>
  Promise.race([promise.then(() => "ended"), wait(STOP_WITHIN_MS, "goes on", { ref: false })]);

/** A core that only answers with its id. */
const routes = ({ rpc }: ConnectRouter) =>
  rpc(DispatchService.method.getInstallation, () => ({ id: "0123456789ab" }));

/** Starts deliveries. Also returns their warnings. */
function start(further: Record<string, string> = {}) {
  const warnings: string[] = [];
  const quiet = () => undefined;
  const deliveries = startDeliveries({
    config: readDeliveryConfig({ ...env, ...further }),
    core: createRouterTransport(routes),
    log: { info: quiet, warn: (message) => warnings.push(message), error: quiet },
  });
  return { deliveries, warnings };
}

describe("deliveries whose Temporal accepts and never answers", () => {
  it("stop at once, and leave the signals to their process", async () => {
    const listeners = () => SIGNALS.map((signal) => process.listenerCount(signal));
    const before = listeners();
    const { deliveries } = start();
    await connected();
    expect(listeners()).toEqual(before);
    expect(await within(deliveries.stop())).toBe("ended");
  });

  it("end their process at SIGTERM", async () => {
    const core = createHttpServer(connectNodeAdapter({ routes })).listen(0, "127.0.0.1");
    await once(core, "listening");
    const CORE_URL = `http://127.0.0.1:${(core.address() as AddressInfo).port}`;
    const child = spawn(process.execPath, [MAIN], {
      env: { ...process.env, ...env, CORE_URL, CORE_CREDENTIAL: "act_svc_x" },
      stdio: "inherit",
    });
    started.push(child);
    const exited = once(child, "exit");
    await connected();
    child.kill("SIGTERM");
    expect(await within(exited)).toBe("ended");
    expect(await exited).toEqual([0, null]);
    core.close();
  });
});

describe("deliveries that are less strict than production", () => {
  const targets = { WEBHOOK_ALLOWED_TARGETS: "127.0.0.1:8443" };
  const extraCa = () => ({ WEBHOOK_EXTRA_CA: join(folder, "ca.pem") });
  const [targetsWarning, caWarning] = [/^targets on this machine/, /extra CA/].map((text) =>
    expect.stringMatching(text),
  );
  it.each([
    ["nothing", () => ({}), []],
    ["allowed targets", () => targets, [targetsWarning]],
    ["an extra CA", extraCa, [caWarning]],
    ["both", () => ({ ...targets, ...extraCa() }), [targetsWarning, caWarning]],
  ])("warn of each: %s", async (_, further, expected) => {
    const { deliveries, warnings } = start(further());
    await deliveries.stop();
    expect(warnings).toEqual(expected);
  });
});
