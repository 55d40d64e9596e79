import { isPublicAddress } from "./public-address.ts";

/** The target in an endpoint's URL. */
export type TargetUrl = {
  /** The normalized URL, as it is stored. */
  readonly href: string;
  /** A name without its final dot, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  readonly isAddress: boolean;
};

const HTTPS_PORT = 443;
const MAX_URL_LENGTH = 2048;

/** What each rule for URLs accepts, as text. */
export const ACCEPTED_URL = {
  length: `at most ${MAX_URL_LENGTH} characters, also when it is percent-encoded`,
  notAbsolute: "a scheme and a host, as in https://example.com/hook",
  scheme: "the scheme https",
  userInfo: "no user info",
  fragment: "no fragment",
  port: `port ${HTTPS_PORT} or no port`,
  host: "a public host name",
  address:
    "a public address: no private or special block, and no address of a cloud's own platform",
} as const;

/** The rule that a URL breaks. No rule looks up the addresses of the URL's name. */
export type RefusedUrl = { readonly broken: keyof typeof ACCEPTED_URL };

/**
 * Matches at least two labels. None is empty, or begins or ends with a hyphen (RFC 1123). A punycode label of plain
 * ASCII ends with a hyphen, so it is refused too. A name without a dot is in a private network: no top-level domain
 * serves receivers.
 */
const HOST_NAME = /^(?!-)[^.]*[^.-](?:\.(?!-)[^.]*[^.-])+$/;
/**
 * Matches an address. The URL parser writes each in one form, and refuses four numbers that are not an IPv4 address.
 */
const ADDRESS = /:|^\d+(?:\.\d+){3}$/;
/** Names that never resolve to a public server. RFC 6761, 6762, 7686, 8375, 9476; `localdomain` is from /etc/hosts. */
const LOCAL_NAMES = /(?:^|\.)(?:localhost|localdomain[46]?|local|internal|home\.arpa|onion|alt)$/;

/**
 * Parses the target of an endpoint's URL: https, port 443, a host name or public address, no user info, no fragment.
 * The core checks this when an endpoint is written. Each attempt checks it again, and also the addresses of the name.
 * `allowedTargets` are `host:port` pairs for development only. §6
 */
export function parseTargetUrl(
  text: string,
  allowedTargets: ReadonlySet<string> = new Set(),
): TargetUrl | RefusedUrl {
  if (text.length > MAX_URL_LENGTH) return { broken: "length" };
  // Does not use `URL.parse`, because the dashboard also runs in Safari 17.5 and Chrome 125, which do not have it.
  if (!URL.canParse(text)) return { broken: "notAbsolute" };
  const url = new URL(text);
  if (url.protocol !== "https:") return { broken: "scheme" };
  if (url.username !== "" || url.password !== "") return { broken: "userInfo" };
  if (text.includes("#")) return { broken: "fragment" };
  // Checks the length again, because percent-encoding can make the URL longer.
  if (url.href.length > MAX_URL_LENGTH) return { broken: "length" };
  const target = targetOf(url);
  if (allowedTargets.has(`${target.host}:${target.port}`)) return target;
  if (target.port !== HTTPS_PORT) return { broken: "port" };
  if (target.isAddress) return isPublicAddress(target.host) ? target : { broken: "address" };
  return isPublicName(target.host) ? target : { broken: "host" };
}

function targetOf({ href, hostname, port }: URL): TargetUrl {
  const host = hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  return { href, host, port: Number(port || HTTPS_PORT), isAddress: ADDRESS.test(host) };
}

/** Returns whether a parsed URL's name, which is in lower-case ASCII, can be a public server's. */
function isPublicName(name: string): boolean {
  return HOST_NAME.test(name) && !LOCAL_NAMES.test(name);
}
