import { connect } from "node:net";

/** What answered on a database's port. */
export type Greeting =
  | { kind: "server"; version: string }
  | { kind: "refused"; message: string }
  | { kind: "unreachable"; cause: string }
  | { kind: "other" };

const HEADER_BYTES = 4;
const REFUSAL = 0xff;
const PROTOCOL_VERSION = 10;

/** Connects and reads what a MySQL-family server says first, without logging in. */
export function readGreeting(
  host: string,
  port: number,
  timeoutMilliseconds: number,
): Promise<Greeting> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    let received = Buffer.alloc(0);
    const end = (greeting: Greeting) => {
      socket.destroy();
      resolve(greeting);
    };
    socket.setTimeout(timeoutMilliseconds, () =>
      end(socket.connecting ? { kind: "unreachable", cause: "no answer in time" } : OTHER),
    );
    socket.on("error", (error) => end({ kind: "unreachable", cause: error.message }));
    socket.on("end", () => end(OTHER));
    socket.on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const greeting = parseGreeting(received);
      if (greeting) end(greeting);
    });
  });
}

const OTHER: Greeting = { kind: "other" };

/** Parses the first packet of the protocol; `undefined` while more bytes are needed. */
export function parseGreeting(bytes: Buffer): Greeting | undefined {
  if (bytes.length < HEADER_BYTES) return undefined;
  const length = bytes.readUIntLE(0, 3);
  // No greeting is longer; other protocols' first bytes read as a huge length.
  if (length === 0 || length > 1024) return OTHER;
  if (bytes.length < HEADER_BYTES + length) return undefined;
  const packet = bytes.subarray(HEADER_BYTES, HEADER_BYTES + length);
  if (packet[0] === REFUSAL) return { kind: "refused", message: packet.toString("utf8", 3) };
  const end = packet.indexOf(0);
  if (packet[0] !== PROTOCOL_VERSION || end === -1) return OTHER;
  // MariaDB puts 5.5.5- in front so that old clients take it for MySQL 5.5.
  const version = packet.toString("latin1", 1, end).replace(/^5\.5\.5-(?=\d)/, "");
  return { kind: "server", version };
}
