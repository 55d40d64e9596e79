import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type Socket } from "node:net";
import { unescape as decode } from "node:querystring";
import type { CheckedAddress } from "./target-guard.ts";

/** Opens connections to checked addresses through a proxy. */
export type EgressProxy = {
  /** Resolves with a connection and the address it goes to. Rejects once `signal` is aborted. */
  open(
    addresses: readonly CheckedAddress[],
    port: number,
    signal: AbortSignal,
  ): Promise<{ readonly socket: Socket; readonly address: string }>;
};

/** A failure of the proxy, not of the receiver. It holds neither the proxy's address nor a target's. */
export class ProxyFailure extends Error {
  override readonly name = "ProxyFailure";
}

/** The proxy could not connect to the receiver. */
class TunnelRefusedError extends Error {
  override readonly name = "TunnelRefusedError";
  readonly code = "EPROXYTARGET";
}

/** The longest time to connect to the proxy. It counts towards the ten seconds of an attempt. */
const PROXY_WITHIN_MS = 3_000;

/**
 * Creates a client of an HTTP proxy (CONNECT, RFC 9110 §9.3.6). It asks for addresses, not names, so the proxy looks
 * nothing up. A 5xx means that the proxy could not connect to an address, and the next address is tried. Every other
 * failure is the proxy's own. ADR 0027
 */
export function createEgressProxy(proxyUrl: URL): EgressProxy {
  const { hostname, port, protocol, username, password } = proxyUrl;
  const isTls = protocol === "https:";
  const request = isTls ? requestHttps : requestHttp;
  const host = hostname.replace(/^\[|\]$/g, "");
  // Without `servername`, Node would take the name for SNI from the header Host, which names the target.
  const named = isIP(host) === 0 && { servername: host };
  // Node gives up each of the proxy's own addresses after this time, except the last one. Node's default is too short
  // for a lost SYN.
  const slow = { autoSelectFamilyAttemptTimeout: PROXY_WITHIN_MS / 2 };
  const to = { host, port: port || (isTls ? 443 : 80), ...named, ...slow };
  const credentials = `${decode(username)}:${decode(password)}`;
  const authorization = (username !== "" || password !== "") && {
    "proxy-authorization": `Basic ${Buffer.from(credentials).toString("base64")}`,
  };

  function connect({ address, family }: CheckedAddress, port: number, signal: AbortSignal) {
    const authority = `${family === 6 ? `[${address}]` : address}:${port}`;
    const headers = { host: authority, ...authorization };
    const opened = Promise.withResolvers<Socket>();
    const asked = request({
      ...to,
      ...{ method: "CONNECT", path: authority, headers, agent: false, signal },
    });
    const late = setTimeout(
      () => asked.destroy(new ProxyFailure("it did not accept a connection in time")),
      PROXY_WITHIN_MS,
    );
    asked.once("socket", (socket) => {
      socket.once(isTls ? "secureConnect" : "connect", () => clearTimeout(late));
    });
    asked.once("connect", ({ statusCode = 0 }, socket, head) => {
      if (statusCode >= 200 && statusCode < 300) {
        // A TLS server never sends first. If this one did, its bytes go back to the socket, and the handshake fails
        // with an error.
        if (head.length > 0) socket.unshift(head);
        opened.resolve(socket as Socket); // Without an agent the stream is always a Socket.
        return;
      }
      socket.destroy();
      const message = `it answered ${statusCode}`;
      opened.reject(
        statusCode >= 500 ? new TunnelRefusedError(message) : new ProxyFailure(message),
      );
    });
    asked.once("error", (error) => {
      opened.reject(error instanceof ProxyFailure ? error : new ProxyFailure(codeOf(error)));
    });
    asked.end();
    return opened.promise.finally(() => clearTimeout(late));
  }

  return {
    async open(addresses, port, signal) {
      let refused: unknown = new TunnelRefusedError("there is no address");
      for (const checked of addresses) {
        try {
          return { socket: await connect(checked, port, signal), address: checked.address };
        } catch (error) {
          if (!(error instanceof TunnelRefusedError)) throw error;
          refused = error;
        }
      }
      throw refused;
    },
  };
}

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "it broke off";
}
