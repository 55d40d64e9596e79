import { BlockList, isIP } from "node:net";
import { DomainError, ErrorCode } from "../errors.ts";

const URL_MAX = 2048;
const HTTPS_PORT = "443";
const LOCAL_NAMES = /(?:^|\.)(?:localhost|local|internal|home\.arpa|onion|alt)$/;

/**
 * Returns the URL an endpoint may have: https, port 443, a host name or public address, no user info, no
 * fragment. What its name resolves to is checked at every attempt. `allowedTargets` holds the `host:port`
 * of development only. Fails with `invalid_parameter`, saying why. §6
 */
export function parseEndpointUrl(text: string, allowedTargets: ReadonlySet<string>): string {
  if (text.length > URL_MAX) throw refused(`at most ${URL_MAX} characters`);
  const url = URL.parse(text);
  if (url === null) throw refused("an absolute URL");
  if (url.protocol !== "https:") throw refused("the scheme https");
  if (url.username !== "" || url.password !== "") throw refused("no user info");
  if (text.includes("#")) throw refused("no fragment");
  // Percent-encoding can make it longer.
  if (url.href.length > URL_MAX) throw refused(`at most ${URL_MAX} characters once encoded`);
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  if (allowedTargets.has(`${host}:${url.port || HTTPS_PORT}`)) return url.href;
  if (url.port !== "") throw refused(`no port but ${HTTPS_PORT}`);
  if (isIP(host) === 0) {
    if (!host.includes(".") || LOCAL_NAMES.test(host)) throw refused("a public host name");
  } else if (!isPublicAddress(host)) {
    throw refused("no address of a private or special block");
  }
  return url.href;
}

function refused(accepted: string): DomainError {
  return new DomainError(ErrorCode.InvalidParameter, `url accepts ${accepted}.`);
}

/** The blocks of the IANA special-purpose registries, multicast and class E. */
const SPECIAL_IPV4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.31.196.0/24",
  "192.52.193.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "192.175.48.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
] as const;
const GLOBAL_IPV6 = "2000::/3";
/** Those inside the global block; addresses that carry an IPv4 address are refused as a whole here. */
const SPECIAL_IPV6 = [
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "2620:4f:8000::/48",
  "3ffe::/16",
  "3fff::/20",
] as const;

const specialIpv4 = blockList(SPECIAL_IPV4, "ipv4");
const globalIpv6 = blockList([GLOBAL_IPV6], "ipv6");
const specialIpv6 = blockList(SPECIAL_IPV6, "ipv6");

/** Addresses arrive as URLs spell them: `0x7f.1` and the like are dotted decimals by now. */
function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !specialIpv4.check(address, "ipv4");
  return globalIpv6.check(address, "ipv6") && !specialIpv6.check(address, "ipv6");
}

function blockList(blocks: readonly string[], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const block of blocks) {
    const [address = "", prefix = ""] = block.split("/");
    list.addSubnet(address, Number(prefix), family);
  }
  return list;
}
