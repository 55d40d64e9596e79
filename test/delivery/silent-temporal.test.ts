import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { DispatchService } from "@activity/proto";
import { readDeliveryConfig, startDeliveries } from "@activity/workflows";
import { type ConnectRouter, createRouterTransport } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { QUIET } from "../harness/quiet.ts";
import { useFolder } from "../harness/use-started.ts";
import { sharedCertificates } from "./harness-receiver-certificates.ts";

const MAIN = fileURLToPath(new URL("../../workflows/src/main.ts", import.meta.url));
/** Much longer than a stop takes, and much shorter than the connection timeouts of the system and the SDK. */
const STOP_WITHIN_MS = 10_000;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGQUIT", "SIGUSR2"];

let sockets: Socket[];
let env: Record<string, string>;
// Each test has its own server, which accepts connections and never answers. A stopped process may still try to
// connect.
beforeEach(async () => {
  const own: Socket[] = [];
  sockets = own;
  const silent = createServer((socket) => own.push(socket.on("error", () => undefined)));
  await once(silent.listen(0, "127.0.0.1"), "listening");
  env = {
    TEMPORAL_ADDRESS: `127.0.0.1:${(silent.address() as AddressInfo).port}`,
    ALLOW_UNSAFE_TARGETS: "development",
  };
  return () => {
    silent.close();
    for (const socket of own) socket.destroy();
  };
});

const connected = () => expect.poll(() => sockets.length).toBeGreaterThan(0);
const within = (promise: Promise<unknown>) =>
  Promise.race([promise.then(() => "ended"), wait(STOP_WITHIN_MS, "goes on", { ref: false })]);

/** A core that only answers with its id. */
const routes = ({ rpc }: ConnectRouter) =>
  rpc(DispatchService.method.getInstallation, () => ({ id: "0123456789ab" }));

/** Starts deliveries. Also returns their warnings. */
function start(further: Record<string, string> = {}) {
  const warnings: string[] = [];
  const deliveries = startDeliveries({
    config: readDeliveryConfig({ ...env, ...further }),
    core: createRouterTransport(routes),
    log: { ...QUIET, warn: (message) => warnings.push(message) },
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
    onTestFinished(() => void child.kill("SIGKILL"));
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
  const extraCa = { WEBHOOK_EXTRA_CA: join(useFolder("silent"), "ca.pem") };
  writeFileSync(extraCa.WEBHOOK_EXTRA_CA, sharedCertificates().ca);

  it.each([
    ["nothing", {}, []],
    ["allowed targets", targets, [/^targets on this machine/]],
    ["an extra CA", extraCa, [/extra CA/]],
    ["both", { ...targets, ...extraCa }, [/^targets on this machine/, /extra CA/]],
  ])("warn of each: %s", async (_, further, expected) => {
    const { deliveries, warnings } = start(further);
    await deliveries.stop();
    expect(warnings).toEqual(expected.map((text) => expect.stringMatching(text)));
  });
});
