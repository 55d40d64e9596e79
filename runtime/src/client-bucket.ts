import { isIPv4, isIPv6 } from "node:net";

/**
 * Returns the key of a client's limit. An IPv4 address has its own key, also when it is mapped into IPv6. Other IPv6
 * addresses share the key of their /64. All texts that are no address share one key.
 *
 * This parses by hand: ipaddr.js reads `::192.0.2.1` as 192.0.2.1, and throws at zones that Node accepts.
 */
export function clientBucket(address: string): Buffer {
  const ipv4 = isIPv4(address) ? address : mappedIPv4(address);
  if (ipv4 !== undefined) return Buffer.from([CLIENT, ...ipv4.split(".").map(Number)]);
  const plain = address.split("%")[0] ?? "";
  if (isIPv6(plain)) return Buffer.concat([Buffer.of(CLIENT), networkOf(plain)]);
  return Buffer.of(CLIENT);
}

/** The first byte of client keys, `c`. Other keys that the core counts begin with other bytes. */
const CLIENT = 0x63;

function mappedIPv4(address: string): string | undefined {
  if (!isIPv6(address)) return undefined;
  const groups = groupsOf(address);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (!isMapped) return undefined;
  const [high = 0, low = 0] = groups.slice(6);
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

function networkOf(address: string): Buffer {
  const network = Buffer.alloc(8);
  for (const [index, group] of groupsOf(address).slice(0, 4).entries()) {
    network.writeUInt16BE(group, index * 2);
  }
  return network;
}

/** Expands a valid IPv6 text to its eight groups. */
function groupsOf(address: string): number[] {
  const [head = "", tail] = address.split("::");
  const front = parseGroups(head);
  const back = tail === undefined ? [] : parseGroups(tail);
  return [...front, ...Array(8 - front.length - back.length).fill(0), ...back];
}

function parseGroups(text: string): number[] {
  return text === "" ? [] : text.split(":").flatMap(parseGroup);
}

function parseGroup(group: string): number[] {
  if (!group.includes(".")) return [Number.parseInt(group, 16)];
  const [a = 0, b = 0, c = 0, d = 0] = group.split(".").map(Number);
  return [(a << 8) | b, (c << 8) | d];
}
