import type { Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";

const DEADLINE_MS = 20_000;

/** Calls the server that served the page, with its cookie; every call is a POST. */
export function createTransport(): Transport {
  return createConnectTransport({
    baseUrl: location.origin,
    defaultTimeoutMs: DEADLINE_MS,
    useHttpGet: false,
  });
}
