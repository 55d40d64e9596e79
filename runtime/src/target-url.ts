import ipaddr from "ipaddr.js";
import { isPublicAddress } from "./public-address.ts";

/** What an endpoint's URL says about where to connect. */
export type TargetUrl = {
  /** The URL as parsers write it, and as it is stored. */
  readonly href: string;
  /** A name without its final dot, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  readonly isAddress: boolean;
};

const HTTPS_PORT = 443;
const MAX_URL_LENGTH = 2048;

/** What each rule that a URL can break accepts, in words. */
export const ACCEPTED_URL = {
  length: `at most ${MAX_URL_LENGTH} characters`,
  notAbsolute: "an absolute URL",
  scheme: "the scheme https",
  userInfo: "no user info",
  fragment: "no fragment",
  port: `no port but ${HTTPS_PORT}`,
  host: "a public host name",
  address: "no address of a private or special block, nor of a cloud's platform",
} as const;

/** The rule that makes a URL no target, whatever its name resolves to. */
export type RefusedUrl = { readonly broken: keyof typeof ACCEPTED_URL };

/**
 * At least two labels, none of which is empty or has a hyphen at an end (RFC 1123), as ASCII written in punycode
 * has. A name without a dot is somebody's own network: no top-level domain serves receivers.
 */
const HOST_NAME = /^(?!-)[^.]*[^.-](?:\.(?!-)[^.]*[^.-])+$/;
/** Names that never lead to a public server. RFC 6761, 6762, 7686, 8375, 9476; localdomain is of /etc/hosts. */
const LOCAL_NAMES = /(?:^|\.)(?:localhost|localdomain[46]?|local|internal|home\.arpa|onion|alt)$/;

/**
 * Reads a target from an endpoint's URL: https, port 443, a host name or public address, no user info, no
 * fragment. The core holds it when an endpoint is written, and who sends at each attempt; what a name resolves
 * to is checked then. `allowedTargets` are the `host:port` of development only. §6
 */
export function parseTargetUrl(
  text: string,
  allowedTargets: ReadonlySet<string> = new Set(),
): TargetUrl | RefusedUrl {
  if (text.length > MAX_URL_LENGTH) return { broken: "length" };
  const url = URL.parse(text);
  if (url === null) return { broken: "notAbsolute" };
  if (url.protocol !== "https:") return { broken: "scheme" };
  if (url.username !== "" || url.password !== "") return { broken: "userInfo" };
  if (text.includes("#")) return { broken: "fragment" };
  // Percent-encoding can make it longer.
  if (url.href.length > MAX_URL_LENGTH) return { broken: "length" };
  const target = targetOf(url);
  if (allowedTargets.has(`${target.host}:${target.port}`)) return target;
  if (target.port !== HTTPS_PORT) return { broken: "port" };
  if (target.isAddress) return isPublicAddress(target.host) ? target : { broken: "address" };
  return isPublicName(target.host) ? target : { broken: "host" };
}

function targetOf({ href, hostname, port }: URL): TargetUrl {
  const host = hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  // A URL writes whatever is an address in one way only.
  return { href, host, port: Number(port || HTTPS_PORT), isAddress: ipaddr.isValid(host) };
}

/** In whatever letters and encoding it was written, a parsed URL has its name in ASCII and lower case. */
function isPublicName(name: string): boolean {
  return HOST_NAME.test(name) && !LOCAL_NAMES.test(name);
}
