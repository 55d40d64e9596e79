import { isIPv6 } from "node:net";

/** How this machine reaches a server that listens on all addresses. */
const REACHED: ReadonlyMap<string, string> = new Map([
  ["0.0.0.0", "127.0.0.1"],
  ["::", "::1"],
]);

/** Returns the `host:port` at which this machine reaches a server that listens on `host`. */
export function localAddress(host: string, port: number): string {
  const reached = REACHED.get(host) ?? host;
  return `${isIPv6(reached) ? `[${reached}]` : reached}:${port}`;
}
