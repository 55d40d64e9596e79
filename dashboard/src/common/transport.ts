import type { Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";

const DEADLINE_MS = 20_000;

/** Creates the transport to the server of the page, with its cookie. Every call is a POST. */
export function createTransport(): Transport {
  return createConnectTransport({
    baseUrl: location.origin,
    defaultTimeoutMs: DEADLINE_MS,
    useHttpGet: false,
  });
}
