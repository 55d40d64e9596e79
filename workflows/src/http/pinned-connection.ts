import { isIP, type LookupFunction, type TcpNetConnectOpts } from "node:net";
import {
  type ConnectionOptions,
  connect as connectTls,
  type SecureContext,
  type TLSSocket,
} from "node:tls";
import { Client } from "undici";
import { type ExpectAnswer, readAnswerStarts } from "./answer-start.ts";
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
 * proxy, no reconnect. The certificate is verified in full, for the name in the URL. §6.4
 */
export function openPinnedConnection(
  target: SafeTarget,
  secureContext: SecureContext,
): PinnedConnection {
  let socket: TLSSocket | undefined;
  let expectAnswer: ExpectAnswer = () => undefined;
  const client = new Client(originOf(target), {
    connect: (_options, callback) => {
      // Addresses are checked for one attempt: undici may not connect again on its own later.
      if (socket) return callback(new ClosedConnectionError("closed"), null);
      const opened = connectTo(target, secureContext);
      socket = opened;
      expectAnswer = readAnswerStarts(opened);
      const fail = (error: Error) => callback(error, null);
      opened.once("error", fail).once("secureConnect", () => {
        opened.off("error", fail);
        callback(null, opened);
      });
      // A late error without a listener would end the process.
      opened.on("error", () => undefined);
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
    address: () => (socket?.destroyed ? undefined : socket?.remoteAddress),
    expectAnswer: (listener) => expectAnswer(listener),
    destroy: () => {
      socket?.destroy();
      client.destroy().catch(() => undefined);
    },
  };
}

function connectTo(target: SafeTarget, secureContext: SecureContext): TLSSocket {
  const options: ConnectionOptions & TcpNetConnectOpts = {
    host: target.host,
    port: target.port,
    ...(isIP(target.host) === 0 && { servername: target.host }),
    lookup: pinnedLookup(target.addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
    ALPNProtocols: ["http/1.1"],
    secureContext,
    // Stated, so that NODE_TLS_REJECT_UNAUTHORIZED cannot switch it off.
    rejectUnauthorized: true,
    noDelay: true,
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
