import { isIP } from "node:net";
import { isPublicAddress } from "@activity/runtime/public-address";
import { ACCEPTED_URL, parseTargetUrl } from "@activity/runtime/target-url";
import { NameNotFoundError, type ResolveName } from "./name-resolver.ts";

/** A checked address. An attempt may connect to it. */
export type CheckedAddress = { readonly address: string; readonly family: 4 | 6 };

/** The only addresses that an attempt may connect to, and their name. */
export type SafeTarget = {
  readonly kind: "safe";
  /** The name or address in the URL. The certificate must be for it. */
  readonly host: string;
  readonly port: number;
  /** At least one; all belong to `host`. */
  readonly addresses: readonly CheckedAddress[];
};

/** Why an attempt must not connect. Details never hold the URL, a name or an address. */
export type RefusedTarget = {
  readonly kind: "unsafe_target" | "dns_failed";
  readonly detail: string;
};

/** How targets are checked. */
export type TargetRules = {
  readonly resolve: ResolveName;
  /** Development and tests only: `host:port` pairs that resolve to this machine. */
  readonly allowedLoopback?: ReadonlySet<string> | undefined;
};

const LOOPBACK: CheckedAddress = { address: "127.0.0.1", family: 4 };
const LOOPBACK_6: CheckedAddress = { address: "::1", family: 6 };

/** Resolves an endpoint's URL and refuses it unless all its addresses are public. §6.4 */
export async function resolveTarget(
  url: string,
  { resolve, allowedLoopback }: TargetRules,
): Promise<SafeTarget | RefusedTarget> {
  const target = parseTargetUrl(url, allowedLoopback);
  if ("broken" in target) {
    const detail = `the URL has to have ${ACCEPTED_URL[target.broken]}`;
    return { kind: "unsafe_target", detail };
  }
  const { host, port, isAddress } = target;
  if (allowedLoopback?.has(`${host}:${port}`)) {
    return { kind: "safe", host, port, addresses: [host === "::1" ? LOOPBACK_6 : LOOPBACK] };
  }
  const found = isAddress ? [host] : await findAddresses(host, resolve);
  if (typeof found === "string") return { kind: "dns_failed", detail: found };
  if (!found.every(isPublicAddress)) {
    return { kind: "unsafe_target", detail: describeRefusal(found) };
  }
  return { kind: "safe", host, port, addresses: found.map(checkedAddressOf) };
}

/** Returns the addresses of a name, or the resolver's code if it has none. */
async function findAddresses(
  name: string,
  resolve: ResolveName,
): Promise<readonly string[] | string> {
  try {
    const addresses = await resolve(name);
    return addresses.length > 0 ? addresses : "ENODATA";
  } catch (error) {
    return error instanceof NameNotFoundError ? error.code : "EDNS";
  }
}

function describeRefusal(addresses: readonly string[]): string {
  const isMixed = addresses.some(isPublicAddress);
  return isMixed ? "the name has public and other addresses" : "the address is not public";
}

function checkedAddressOf(address: string): CheckedAddress {
  return { address, family: isIP(address) === 6 ? 6 : 4 };
}
