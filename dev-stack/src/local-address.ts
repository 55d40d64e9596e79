import { isIPv6 } from "node:net";

/** How this machine reaches a server that listens on all addresses. */
const REACHED: ReadonlyMap<string, string> = new Map([
  ["0.0.0.0", "127.0.0.1"],
  ["::", "::1"],
]);

/** Returns the `host:port` at which this machine reaches a server that listens on `host`, in lower case. */
export function localAddress(host: string, port: number): string {
  const reached = REACHED.get(host) ?? host.toLowerCase();
  return `${isIPv6(reached) ? `[${reached}]` : reached}:${port}`;
}

/** Returns the origin of a page on this machine as browsers write it: without port 80. */
export function localOrigin(port: number): string {
  return new URL(`http://localhost:${port}`).origin;
}
