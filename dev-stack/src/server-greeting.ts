import { readFirstBytes } from "./first-bytes.ts";
import { LOOPBACK } from "./free-port.ts";

const ANSWER_MILLISECONDS = 10_000;
const HEADER_BYTES = 4;
const REFUSAL = 0xff;
const PROTOCOL_VERSION = 10;

/**
 * Reads the version from the greeting of a MySQL-family server, without logging in. Rejects with a clause that says
 * what answered instead.
 */
export async function readServerVersion(host: string, port: number): Promise<string> {
  const bytes = await readFirstBytes(host, port, ANSWER_MILLISECONDS);
  const packet = bytes.subarray(HEADER_BYTES);
  const end = packet.indexOf(0);
  if (packet[0] === REFUSAL) throw new Error(`it says “${packet.toString("utf8", 3)}”`);
  if (packet[0] !== PROTOCOL_VERSION || end === -1) throw new Error("it is not MySQL or MariaDB");
  // Removes 5.5.5-, which MariaDB prefixes so that old clients treat it as MySQL 5.5.
  return packet.toString("latin1", 1, end).replace(/^5\.5\.5-(?=\d)/, "");
}

/** Tells whether a MySQL-family server accepts connections on a loopback port. */
export function isGreeting(port: number): Promise<boolean> {
  return readServerVersion(LOOPBACK, port).then(Boolean, () => false);
}
