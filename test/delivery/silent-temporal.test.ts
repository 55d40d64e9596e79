import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { DispatchService } from "@activity/proto";
import { readDeliveryConfig, startDeliveries } from "@activity/workflows";
import { type ConnectRouter, createRouterTransport } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { beforeEach, describe, expect, it } from "vitest";
import { listenLocally } from "../harness/listening.ts";
import { QUIET } from "../harness/quiet.ts";
import { openDoor } from "../harness/tcp-door.ts";
import { useFolder } from "../harness/use-started.ts";
import { usePrograms } from "../start/harness-program.ts";
import { sharedCertificates } from "./harness-receiver-certificates.ts";

/** The time limit of a stop: much longer than it takes, but shorter than the connection timeouts of system and SDK. */
const STOP_WITHIN_MS = 10_000;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGQUIT", "SIGUSR2"];

const startProgram = usePrograms();
let connections: number;
let env: Record<string, string>;
// Each test has its own server, because a stopped process may still try to connect. The server accepts connections
// and never answers.
beforeEach(async () => {
  connections = 0;
  const silent = await openDoor(0, () => {
    connections += 1;
    return new Promise<never>(() => undefined);
  });
  env = { TEMPORAL_ADDRESS: `127.0.0.1:${silent.port}`, ALLOW_UNSAFE_TARGETS: "development" };
  return silent.close;
});

const connected = () => expect.poll(() => connections).toBeGreaterThan(0);
const within = <Result>(promise: Promise<Result>) =>
  Promise.race([promise, wait(STOP_WITHIN_MS, "goes on", { ref: false })]);

/** The calls of a core that only answers with the id of its installation. */
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
    expect(await within(deliveries.stop())).toBeUndefined();
  });

  it("end their process at SIGTERM", async () => {
    const core = createServer(connectNodeAdapter({ routes }));
    const CORE_URL = `http://127.0.0.1:${await listenLocally(core)}`;
    const toCore = { CORE_URL, CORE_CREDENTIAL: "act_svc_x" };
    const { end, output } = startProgram("workflows/src/main.ts", { ...env, ...toCore });
    await connected();
    expect(await within(end()), output()).toBe(0);
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
  ])("warn of each: %s", async (_, further, expected) => {
    const { deliveries, warnings } = start(further);
    await deliveries.stop();
    expect(warnings).toEqual(expected.map((text) => expect.stringMatching(text)));
  });
});
