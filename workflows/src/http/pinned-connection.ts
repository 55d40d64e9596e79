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

/** One TLS connection to one checked target, which carries one request at a time. */
export type PinnedConnection = {
  readonly client: Client;
  /** The address connected to; `undefined` before the connection stands and after it is gone. */
  readonly address: () => string | undefined;
  /** Reads the start of the next answer, that of the request which goes out now. */
  readonly expectAnswer: ExpectAnswer;
  /** Cuts the connection at once, also while it is being made. */
  readonly destroy: () => void;
};

/** Says that a kept connection was closed before the request could be written to it. */
class ClosedConnectionError extends Error {
  override readonly name = "ClosedConnectionError";
  readonly code = "ECLOSED";
}

/** How long a connection without a request is kept, whatever the receiver would allow. */
const IDLE_MS = 4_000;
const MAX_REQUESTS = 1_000;
/** What one of several addresses gets to accept, before it is given up for the next one. */
const NEXT_ADDRESS_MS = 1_000;

/**
 * Opens a connection that can go to the checked addresses and nowhere else: no second look-up, no
 * reconnect. The proxy, if there is one, is asked for an address. The certificate is verified in full,
 * for the name in the URL. §6.4
 */
export function openPinnedConnection(
  target: SafeTarget,
  secureContext: SecureContext,
  proxy?: EgressProxy,
): PinnedConnection {
  let isAsked = false;
  let socket: TLSSocket | undefined;
  let address: string | undefined;
  let expectAnswer: ExpectAnswer = () => undefined;
  const ending = new AbortController();
  const client = new Client(originOf(target), {
    connect: (_options, callback) => {
      // Addresses are checked for one attempt: undici may not connect again on its own later.
      if (isAsked) return callback(new ClosedConnectionError("closed"), null);
      isAsked = true;
      const fail = (error: Error) => callback(error, null);
      const secure = (way: Way) => {
        const opened = connectTo(target, secureContext, way);
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
      if (proxy === undefined) return secure(directWay(target));
      proxy.open(target.addresses, target.port, ending.signal).then((tunnel) => {
        address = tunnel.address;
        secure({ socket: tunnel.socket });
      }, fail);
    },
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    maxRequestsPerClient: MAX_REQUESTS,
    // The attempt has one deadline of its own.
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

/** How a connection comes to its target: by itself, or over one that a proxy made. */
type Way = TcpNetConnectOpts | { readonly socket: Socket };

function directWay({ host, port, addresses }: SafeTarget): Way {
  return {
    ...{ host, port, lookup: pinnedLookup(addresses), noDelay: true },
    ...{ autoSelectFamily: true, autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS },
  };
}

function connectTo({ host }: SafeTarget, secureContext: SecureContext, way: Way): TLSSocket {
  const options: ConnectionOptions = {
    // The certificate has to be for it.
    host,
    ...way,
    ...(isIP(host) === 0 && { servername: host }),
    ALPNProtocols: ["http/1.1"],
    secureContext,
    // Stated, so that NODE_TLS_REJECT_UNAUTHORIZED cannot switch it off.
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
