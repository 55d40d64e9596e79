import { once } from "node:events";
import { type AddressInfo, connect, createServer, isIP, isIPv6, type Socket } from "node:net";
import { pipeline } from "node:stream";
import { PROCESS_TIMING as timing } from "@activity/runtime/timing";
import type { NativeConnectionOptions } from "@temporalio/worker";

/** How long Temporal may take to accept a connection, and then to send its first byte, after the lookup of its name. */
const ANSWERS_WITHIN_MS = 5_000;
/** How long Node tries one address before the next. Longer than the second after which Linux repeats a lost SYN. */
const EACH_ADDRESS_MS = 1_500;
/** The SDK sends a ping every 30 seconds, so an open connection is never silent for this long. */
const SILENT_MS = 60_000;
/**
 * How long the SDK's next connections are refused after one was cut. A failed connection fails only one of the calls
 * that wait for it. So all calls that wait fail now, and not one every five seconds.
 */
const REFUSED_MS = 1_000;

/**
 * Runs `work` with options that lead connections over TLS through a port of this process, on loopback. TLS stays between
 * the SDK and Temporal. This process cuts a connection that Temporal does not answer. The SDK would wait for the TLS
 * handshake without a limit. Meanwhile it opens no other connection, and its calls do not end at their deadlines. Its
 * native part has an option for this (`connect_timeout`), but the SDK does not offer it. An IPv6 address as
 * TEMPORAL_ADDRESS stays without this limit, because the SDK takes none as a server's name.
 */
export async function throughTunnel(
  options: NativeConnectionOptions,
  work: (options: NativeConnectionOptions) => Promise<void>,
): Promise<void> {
  const to = addressOf(options.address);
  if (!options.tls || isIPv6(to.host)) return work(options);
  const open = new Set<Socket>();
  let refusedUntilMs = 0;
  const server = createServer({ noDelay: true }, (sdk) => {
    if (timing.nowMs() < refusedUntilMs) return void sdk.destroy();
    const slow = { autoSelectFamilyAttemptTimeout: EACH_ADDRESS_MS };
    const temporal = connect({ ...to, ...slow, noDelay: true });
    const pair = [sdk, temporal];
    for (const socket of pair) {
      open.add(socket);
      socket.once("close", () => open.delete(socket));
    }
    const limit = () =>
      temporal.setTimeout(ANSWERS_WITHIN_MS, () => {
        refusedUntilMs = timing.nowMs() + REFUSED_MS;
        temporal.destroy();
      });
    // Begins after the lookup of a name: if a nameserver is away, a lookup takes five seconds, and then succeeds.
    if (isIP(to.host)) limit();
    else temporal.once("lookup", limit);
    temporal.once("data", () => temporal.setTimeout(SILENT_MS));
    pipeline(sdk, temporal, sdk, () => {
      for (const socket of pair) socket.destroy();
    });
  });
  // Without `exclusive`, all processes of `--processes` would share this port, and each other's connections.
  await once(server.listen({ port: 0, host: "127.0.0.1", exclusive: true }), "listening");
  const { port } = server.address() as AddressInfo; // Always an AddressInfo, because it listens on TCP.
  // The name is that of Temporal's certificate. It also becomes the calls' `:authority`, without a port.
  const given = options.tls === true ? {} : options.tls;
  const tls = { ...given, serverNameOverride: given.serverNameOverride ?? to.host };
  try {
    await work({ ...options, tls, address: `127.0.0.1:${port}` });
  } finally {
    server.close();
    for (const socket of open) socket.destroy();
  }
}

/** Returns the host and port of `TEMPORAL_ADDRESS`. The defaults are those of the SDK. */
function addressOf(address = "localhost"): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(`tcp://${address}`);
  return { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || 7233) };
}
