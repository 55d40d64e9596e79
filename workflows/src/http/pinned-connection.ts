import { isIP, type LookupFunction, type Socket, type TcpNetConnectOpts } from "node:net";
import {
  type ConnectionOptions,
  connect as connectTls,
  type SecureContext,
  type TLSSocket,
} from "node:tls";
import { Client } from "undici";
import { type ExpectAnswer, readAnswerStarts } from "./answer-start.ts";
import type { EgressProxy } from "./egress-proxy.ts";
import type { CheckedAddress, SafeTarget } from "./target-guard.ts";

/** A TLS connection to a checked target. It carries one request at a time. */
export type PinnedConnection = {
  readonly client: Client;
  /** The address it is connected to; `undefined` while it is not open. */
  readonly address: () => string | undefined;
  /** Reads the start of the next answer. Called when its request is sent. */
  readonly expectAnswer: ExpectAnswer;
  /** Cuts the connection at once, even before it is open. */
  readonly destroy: () => void;
};

/** A kept connection was closed before the request could be written. */
class ClosedConnectionError extends Error {
  override readonly name = "ClosedConnectionError";
  readonly code = "ECLOSED";
}

/** How long an idle connection is kept, even if the receiver allows more. */
const IDLE_MS = 4_000;
const MAX_REQUESTS = 1_000;
/**
 * How long all addresses together may take to accept. Each gets an equal part, at least a second. Node then gives an
 * address up for good, except the last one, which has until the attempt's deadline. Linux repeats a lost SYN after one
 * and three seconds, so each of two addresses gets time for both repetitions.
 */
const ALL_ADDRESSES_MS = 6_400;
const LEAST_ADDRESS_MS = 1_000;

/**
 * Opens a connection that can go only to the checked addresses: no second look-up, no reconnect. A proxy, if given, is
 * asked for a checked address too. The certificate is verified in full, for the name in the URL. §6.4
 */
export function openPinnedConnection(
  target: SafeTarget,
  secureContext: SecureContext,
  proxy?: EgressProxy,
): PinnedConnection {
  let wasOpened = false;
  let socket: TLSSocket | undefined;
  let address: string | undefined;
  let expectAnswer: ExpectAnswer = () => undefined;
  const ending = new AbortController();
  const client = new Client(originOf(target), {
    connect: (_options, callback) => {
      // The addresses were checked for one attempt, so undici must not connect again later.
      if (wasOpened) return callback(new ClosedConnectionError("closed"), null);
      wasOpened = true;
      const fail = (error: Error) => callback(error, null);
      const secure = (transport: TransportOptions) => {
        const opened = connectTo(target, secureContext, transport);
        socket = opened;
        expectAnswer = readAnswerStarts(opened);
        opened.once("error", fail).once("secureConnect", () => {
          opened.off("error", fail);
          address ??= opened.remoteAddress;
          callback(null, opened);
        });
        // A late error without a listener would end the process.
        opened.on("error", () => undefined);
      };
      if (proxy === undefined) return secure(directTo(target));
      proxy.open(target.addresses, target.port, ending.signal).then((tunnel) => {
        address = tunnel.address;
        secure({ socket: tunnel.socket });
      }, fail);
    },
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    maxRequestsPerClient: MAX_REQUESTS,
    // The attempt has its own deadline.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    client,
    address: () => (socket === undefined || socket.destroyed ? undefined : address),
    expectAnswer: (listener) => expectAnswer(listener),
    destroy: () => {
      ending.abort();
      socket?.destroy();
      client.destroy().catch(() => undefined);
    },
  };
}

/** The TCP connection below TLS: a new one, or one that a proxy opened. */
type TransportOptions = TcpNetConnectOpts | { readonly socket: Socket };

function directTo({ host, port, addresses }: SafeTarget): TransportOptions {
  const eachMs = Math.max(LEAST_ADDRESS_MS, Math.floor(ALL_ADDRESSES_MS / addresses.length));
  return {
    ...{ host, port, lookup: pinnedLookup(addresses), noDelay: true },
    ...{ autoSelectFamily: true, autoSelectFamilyAttemptTimeout: eachMs },
  };
}

function connectTo(
  { host }: SafeTarget,
  secureContext: SecureContext,
  transport: TransportOptions,
): TLSSocket {
  const options: ConnectionOptions = {
    // The certificate must be for this host.
    host,
    ...transport,
    ...(isIP(host) === 0 && { servername: host }),
    ALPNProtocols: ["http/1.1"],
    secureContext,
    // Without this line, NODE_TLS_REJECT_UNAUTHORIZED could switch the verification off.
    rejectUnauthorized: true,
  };
  return connectTls(options);
}

/** Answers every look-up with the addresses that were checked. */
function pinnedLookup(addresses: readonly CheckedAddress[]): LookupFunction {
  return (_name, { all }, callback) => {
    const [first] = addresses;
    if (all) callback(null, [...addresses]);
    else if (first) callback(null, first.address, first.family);
  };
}

function originOf({ host, port }: SafeTarget): string {
  return `https://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}
