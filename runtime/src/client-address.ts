import { BlockList, isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { type Environment, type Problem, readList } from "./environment.ts";

/** Finds the client that a request counts for, by the socket's address and the `X-Forwarded-For` headers. */
export type FindClientAddress = (socketAddress: string, forwardedFor: readonly string[]) => string;

/** Local networks. A peer there that forwards addresses is probably a proxy. */
const LOCAL = [
  "10.0.0.0/8",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "127.0.0.0/8",
  // Providers' own networks, with load balancers.
  "100.64.0.0/10",
  "169.254.0.0/16",
  "fe80::/10",
  "fc00::/7",
  "::1/128",
];

/**
 * Calls `warn` once, when a peer on a local network forwards an address but is no trusted proxy. All clients of that
 * peer share one limit.
 */
export function warnOfUntrustedProxy(
  find: FindClientAddress,
  trustedProxies: readonly string[],
  warn: () => void,
): FindClientAddress {
  const [trusted, local] = [parseNetworks(trustedProxies), parseNetworks(LOCAL)];
  let hasWarned = false;
  return (socketAddress, forwardedFor) => {
    if (!hasWarned && forwardedFor.length > 0) {
      const peer = normalise(socketAddress);
      hasWarned = isIn(local, peer) && !isIn(trusted, peer);
      if (hasWarned) warn();
    }
    return find(socketAddress, forwardedFor);
  };
}

/** The log's warning about a proxy that is not trusted. */
export const UNTRUSTED_PROXY =
  "X-Forwarded-For comes from a local network that TRUSTED_PROXIES does not name: all clients behind it share one limit";

/**
 * Creates the reader of client addresses. A socket's peer outside the CIDRs `trustedProxies` is the client itself, and
 * its forwarded addresses are ignored. Behind a trusted proxy, the client is the right-most forwarded address that is
 * no trusted proxy. An entry that is no address ends the search at the proxy that sent it.
 */
export function createFindClientAddress(trustedProxies: readonly string[]): FindClientAddress {
  if (trustedProxies.length === 0) return normalise;
  const trusted = parseNetworks(trustedProxies);
  return (socketAddress, forwardedFor) => {
    let current = normalise(socketAddress);
    if (!isIn(trusted, current)) return current;
    const entries = forwardedFor.join(",").split(",");
    for (const entry of entries.reverse()) {
      const text = entry.trim();
      if (text === "") continue;
      const address = addressOfEntry(text);
      if (address === undefined) return current;
      current = address;
      if (!isIn(trusted, current)) return current;
    }
    return current;
  };
}

/** Reads the CIDRs of TRUSTED_PROXIES. Calls `problem` if it holds anything else. */
export function readTrustedProxies(env: Environment, problem: Problem): readonly string[] {
  const cidrs = readList(env, "TRUSTED_PROXIES");
  try {
    parseNetworks(cidrs);
  } catch {
    problem("TRUSTED_PROXIES must be CIDRs separated by commas, such as 10.0.0.0/8,fd00::/8.");
  }
  return cidrs;
}

/** Parses CIDRs and single addresses. Throws an Error if one is neither. */
export function parseNetworks(texts: readonly string[]): BlockList {
  const networks = new BlockList();
  for (const text of texts) {
    const [address = "", bits, ...rest] = text.split("/");
    const family = isIP(address) === 4 ? "ipv4" : "ipv6";
    if (rest.length > 0 || !(bits === undefined || /^\d{1,3}$/.test(bits))) {
      throw new Error("not a CIDR");
    }
    if (bits === undefined) networks.addAddress(address, family);
    else networks.addSubnet(address, Number(bits), family);
  }
  return networks;
}

function isIn(networks: BlockList, address: string): boolean {
  const version = isIP(address);
  return version !== 0 && networks.check(address, version === 4 ? "ipv4" : "ipv6");
}

/** Returns the address of an entry: `1.2.3.4`, `1.2.3.4:80`, `::1`, `[::1]` or `[::1]:80`. */
function addressOfEntry(text: string): string | undefined {
  const address =
    /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)?.[1] ?? text.replace(/^([^:]*):\d{1,5}$/, "$1");
  return isIP(address) === 0 ? undefined : normalise(address);
}

/**
 * Returns an IPv4 address in dotted form, even if it was mapped into IPv6. Returns any other IPv6 address without its
 * zone.
 */
function normalise(address: string): string {
  if (!address.includes(":")) return address;
  const plain = address.split("%")[0] ?? "";
  return isIP(plain) === 0 ? address : ipaddr.process(plain).toString();
}
