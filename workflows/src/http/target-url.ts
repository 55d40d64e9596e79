import { isIP } from "node:net";

/** What an endpoint's URL says about where to connect. */
export type TargetUrl = {
  /** A name without its final dot, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  readonly isAddress: boolean;
};

/** Why a URL may not be a target at all, whatever its name resolves to. */
export type RefusedUrl = { readonly refused: string };

const HTTPS_PORT = 443;
const MAX_URL_LENGTH = 2048;

/** Names that never lead to a public server. RFC 6761, 6762, 7686, 8375, 9476 */
const LOCAL_NAMES = /(?:^|\.)(?:localhost|local|internal|home\.arpa|onion|alt)$/;

/** Reads a target from a URL; `allowedTargets` are the `host:port` of development only. §6 */
export function parseTargetUrl(
  text: string,
  allowedTargets: ReadonlySet<string> = new Set(),
): TargetUrl | RefusedUrl {
  if (text.length > MAX_URL_LENGTH) return { refused: "the URL is too long" };
  const url = URL.parse(text);
  if (!url) return { refused: "the URL cannot be read" };
  if (url.protocol !== "https:") return { refused: "the URL is not https" };
  if (url.username || url.password) return { refused: "the URL has user info" };
  if (text.includes("#")) return { refused: "the URL has a fragment" };
  const target = targetOf(url);
  if (allowedTargets.has(`${target.host}:${target.port}`)) return target;
  if (target.port !== HTTPS_PORT) return { refused: "the port is not 443" };
  if (!target.isAddress && isLocalName(target.host)) return { refused: "the name is not public" };
  return target;
}

function targetOf(url: URL): TargetUrl {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  return { host, port: Number(url.port || HTTPS_PORT), isAddress: isIP(host) !== 0 };
}

/** A name without a dot is somebody's own network: no top-level domain serves receivers. */
function isLocalName(name: string): boolean {
  return !name.includes(".") || LOCAL_NAMES.test(name);
}
