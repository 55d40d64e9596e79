import { once } from "node:events";
import { connect } from "node:net";

const REFUSAL = 0xff;
const PROTOCOL_VERSION = 10;
const HEADER_BYTES = 4;

/**
 * Connects and reads the version that a MySQL-family server says first, without logging in; rejects with a clause
 * that says what is there instead.
 */
export async function readServerVersion(
  host: string,
  port: number,
  withinMs: number,
): Promise<string> {
  const socket = connect({ host, port });
  const fail = (why: string) => socket.destroy(new Error(why));
  socket.setTimeout(withinMs, () => fail("no answer in time"));
  socket.once("end", () => fail("it closed the connection"));
  try {
    const [bytes]: Buffer[] = await once(socket, "data");
    const packet = bytes?.subarray(HEADER_BYTES);
    const end = packet?.indexOf(0) ?? -1;
    if (packet?.[0] === REFUSAL) throw new Error(`it says “${packet.toString("utf8", 3)}”`);
    if (packet?.[0] !== PROTOCOL_VERSION || end === -1) {
      throw new Error("it is not MySQL or MariaDB");
    }
    // MariaDB puts 5.5.5- in front so that old clients take it for MySQL 5.5.
    return packet.toString("latin1", 1, end).replace(/^5\.5\.5-(?=\d)/, "");
  } finally {
    socket.destroy();
  }
}

/** Tells whether a server of this family takes connections on a port of loopback. */
export function isGreeting(port: number): Promise<boolean> {
  return readServerVersion("127.0.0.1", port, 10_000).then(
    () => true,
    () => false,
  );
}
