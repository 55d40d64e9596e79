import { delayRefusal, REFUSAL_DELAY_MS } from "@activity/runtime/refused-clients";
import { type Admission, CLIENT_LIMIT } from "./admission.ts";

/** Maximum requests per minute and core from one IPv6 /48: as many as ten clients may send. ADR 0030 */
export const NETWORK_LIMIT = 10 * CLIENT_LIMIT;
const SPAN_MS = 60_000;
/** Maximum networks that are counted at once. One more network replaces the oldest. */
const MAX_NETWORKS = 100_000;
/** The length of an IPv6 client's bucket: one byte, and the eight bytes of its /64. Its /48 ends at `NETWORK_END`. */
const IPV6_BUCKET_BYTES = 9;
const NETWORK_END = 7;

/**
 * Refuses requests from an IPv6 /48 over its limit, before they count for their client. A /48 holds 65,536 clients.
 * Each process counts alone, in minutes that begin with a network's first request. `nowMs` is a clock that never
 * steps.
 */
export function limitWideNetworks(admission: Admission, nowMs: () => number): Admission {
  const networks = new Map<string, { endMs: number; count: number }>();

  function isOver(client: Buffer): boolean {
    if (client.length !== IPV6_BUCKET_BYTES) return false;
    const name = client.toString("latin1", 1, NETWORK_END);
    const current = networks.get(name);
    if (current !== undefined && current.endMs > nowMs()) {
      current.count += 1;
      return current.count > NETWORK_LIMIT;
    }
    networks.delete(name);
    const [first] = networks.keys();
    if (networks.size >= MAX_NETWORKS && first !== undefined) networks.delete(first);
    networks.set(name, { endMs: nowMs() + SPAN_MS, count: 1 });
    return false;
  }

  return {
    ready: admission.ready,
    async admit(request) {
      if (!isOver(request.client)) return admission.admit(request);
      await delayRefusal(REFUSAL_DELAY_MS, request.signal);
      return { kind: "client_refused", untilMs: undefined };
    },
    close: () => admission.close(),
  };
}
