import ipaddr from "ipaddr.js";
import {
  EMBEDDING_IPV6_BLOCKS,
  GLOBAL_IPV6_BLOCK,
  PLATFORM_IPV4_BLOCKS,
  PLATFORM_IPV6_BLOCKS,
  SPECIAL_IPV4_BLOCKS,
  SPECIAL_IPV6_BLOCKS,
} from "./special-blocks.ts";

const { mapped, nat64, sixToFour, teredo } = EMBEDDING_IPV6_BLOCKS;
const REFUSED_IPV4 = [...SPECIAL_IPV4_BLOCKS, ...PLATFORM_IPV4_BLOCKS].map((block) =>
  ipaddr.IPv4.parseCIDR(block),
);
const REFUSED_IPV6 = [...SPECIAL_IPV6_BLOCKS, ...PLATFORM_IPV6_BLOCKS].map((block) =>
  ipaddr.IPv6.parseCIDR(block),
);
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR(GLOBAL_IPV6_BLOCK);
const MAPPED = ipaddr.IPv6.parseCIDR(mapped);
const NAT64 = ipaddr.IPv6.parseCIDR(nat64);
const SIX_TO_FOUR = ipaddr.IPv6.parseCIDR(sixToFour);
const TEREDO = ipaddr.IPv6.parseCIDR(teredo);

/** The start of ISATAP's interface identifiers, before a private or a globally unique IPv4 address. RFC 5214 §6.1 */
const ISATAP = ["0:5efe", "200:5efe"];

/**
 * Returns whether an address, in its canonical spelling, is globally routable unicast and not an address of a cloud's
 * own platform. For IPv4 inside IPv6, the IPv4 address decides. ADR 0027
 */
export function isPublicAddress(address: string): boolean {
  if (!isCanonical(address) || isIpv4Compatible(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed instanceof ipaddr.IPv4) return isPublicIpv4(parsed);
  if (!isatapIpv4(parsed).every(isPublicIpv4)) return false;
  const inner = embeddedIpv4(parsed);
  if (inner.length > 0) return inner.every(isPublicIpv4);
  return parsed.match(GLOBAL_IPV6) && !REFUSED_IPV6.some((block) => parsed.match(block));
}

/** Returns whether an address is in its usual form. ipaddr.js itself also accepts "0x7f.1" and similar forms. */
function isCanonical(address: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address);
}

/**
 * Whether an address is in the deprecated block `::/96` (RFC 4291 §2.5.5.1), as resolvers write it: `::1.2.3.4`.
 * ipaddr.js would read it as `::ffff:1.2.3.4`.
 */
function isIpv4Compatible(address: string): boolean {
  return /^::\d+\./.test(address);
}

function isPublicIpv4(address: ipaddr.IPv4): boolean {
  return !REFUSED_IPV4.some((block) => address.match(block));
}

/** Returns the IPv4 address of an ISATAP host. ISATAP allows any prefix, which is checked separately. */
function isatapIpv4(address: ipaddr.IPv6): ipaddr.IPv4[] {
  const identifier = address.parts.slice(4, 6).map((part) => part.toString(16));
  if (!ISATAP.includes(identifier.join(":"))) return [];
  return [new ipaddr.IPv4(address.toByteArray().slice(12))];
}

function embeddedIpv4(address: ipaddr.IPv6): ipaddr.IPv4[] {
  const bytes = address.toByteArray();
  const ipv4At = (offset: number) => new ipaddr.IPv4(bytes.slice(offset, offset + 4));
  if (address.match(MAPPED) || address.match(NAT64)) return [ipv4At(12)];
  if (address.match(SIX_TO_FOUR)) return [ipv4At(2)];
  if (!address.match(TEREDO)) return [];
  // Teredo holds its server's address, and its client's with all bits inverted.
  return [ipv4At(4), new ipaddr.IPv4(bytes.slice(12).map((byte) => byte ^ 0xff))];
}
