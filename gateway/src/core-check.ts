import type { Log } from "@activity/runtime/log";
import { createGauge, type Metrics } from "@activity/runtime/metrics";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { createUpstream, type Upstream } from "./upstream.ts";
import { type GatewayRefusal, gatewayRefusalOf } from "./upstream-error.ts";

/** Whether the core serves this gateway, or the code with which it refuses the gateway's credential. */
export type CoreState = "starting" | "serving" | "unavailable" | GatewayRefusal;

/** The gateway's latest knowledge of its core. */
export type CoreCheck = { state(): CoreState; stop(): void };

/**
 * Documentation addresses, which no client has. There are six, so that a Redis Cluster counts them on several shards.
 */
const OTHER_ADDRESSES = Array.from({ length: 6 }, (_, host) => `192.0.2.${host + 1}`);
const INTERVAL_MS = 10_000;
const TIMEOUT_MS = 5_000;

/** Checks now and every ten seconds whether the core serves this gateway. Logs each change, and shows it as a gauge. */
export function startCoreCheck(transport: Transport, log: Log, metrics: Metrics): CoreCheck {
  const upstream = createUpstream(transport);
  let state: CoreState = "starting";
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const help = "1 while the core serves this gateway.";
  createGauge(metrics, "activity_gateway_serving", help, () => (state === "serving" ? 1 : 0));

  async function check(): Promise<void> {
    const next = await readState(upstream);
    if (stopped) return;
    if (next !== state) report(log, next);
    state = next;
    timer = setTimeout(check, INTERVAL_MS);
  }

  void check();
  return {
    state: () => state,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** Calls the core with addresses that no client has. */
async function readState(upstream: Upstream): Promise<CoreState> {
  const state = await readStateFor("", upstream);
  if (state !== "unavailable") return state;
  // One shard of a Redis Cluster may be away, while the core still serves the clients of the other shards. So this asks
  // for addresses on other shards.
  const others = OTHER_ADDRESSES.map((address) => readStateFor(address, upstream));
  return (await Promise.all(others)).find((other) => other !== "unavailable") ?? "unavailable";
}

async function readStateFor(address: string, { admission }: Upstream): Promise<CoreState> {
  const headers = { "x-client-address": address };
  try {
    await admission.admitClient({}, { headers, timeoutMs: TIMEOUT_MS });
    return "serving";
  } catch (thrown) {
    const error = ConnectError.from(thrown);
    // If many gateways check, this address may be over its limit. The core has then still accepted the gateway's
    // credential.
    const isCounted = error.code === Code.ResourceExhausted;
    return isCounted ? "serving" : (gatewayRefusalOf(error) ?? "unavailable");
  }
}

function report(log: Log, state: CoreState): void {
  if (state === "serving") log.info("the core serves this gateway");
  else if (state === "unavailable") log.error("the core is unavailable; requests get 503 or 500");
  else log.error("the core refuses GATEWAY_CREDENTIAL; requests get 503", { code: state });
}
