import { readFirstBytes } from "./first-bytes.ts";
import { LOOPBACK } from "./free-port.ts";

const ANSWER_MILLISECONDS = 10_000;
const HEADER_BYTES = 4;
const REFUSAL = 0xff;
const PROTOCOL_VERSION = 10;

/** Reads the version that a MySQL-family server says first, without logging in; rejects with a clause that says what is there instead. */
export async function readServerVersion(host: string, port: number): Promise<string> {
  const bytes = await readFirstBytes(host, port, ANSWER_MILLISECONDS);
  const packet = bytes.subarray(HEADER_BYTES);
  const end = packet.indexOf(0);
  if (packet[0] === REFUSAL) throw new Error(`it says “${packet.toString("utf8", 3)}”`);
  if (packet[0] !== PROTOCOL_VERSION || end === -1) throw new Error("it is not MySQL or MariaDB");
  // MariaDB puts 5.5.5- in front so that old clients take it for MySQL 5.5.
  return packet.toString("latin1", 1, end).replace(/^5\.5\.5-(?=\d)/, "");
}

/** Tells whether a server of this family takes connections on a port of loopback. */
export function isGreeting(port: number): Promise<boolean> {
  return readServerVersion(LOOPBACK, port).then(
    () => true,
    () => false,
  );
}
