import net from "node:net";

/** A way to the database that counts what goes over it, and can fall silent. */
export type DatabaseProxy = Awaited<ReturnType<typeof openDatabaseProxy>>;

const HEADER_BYTES = 4;
const COM_QUERY = 0x03;
const COM_STMT_EXECUTE = 0x17;

/**
 * Opens a port that passes everything on to the database at `serverUrl`. Of the packets that a client sends,
 * those with sequence number 0 begin a command; the rest are parts of one or of the handshake.
 */
export async function openDatabaseProxy(serverUrl: string) {
  const target = new URL(serverUrl);
  let commands = 0;
  let statements = 0;
  const pairs = new Set<[net.Socket, net.Socket]>();
  const server = net.createServer((client) => {
    const upstream = net.connect(Number(target.port), target.hostname);
    let pending = Buffer.alloc(0);
    client.on("data", (chunk: Buffer) => {
      pending = Buffer.concat([pending, chunk]);
      while (pending.length >= HEADER_BYTES) {
        const end = HEADER_BYTES + pending.readUIntLE(0, 3);
        if (pending.length < end) break;
        if (pending[3] === 0) {
          commands++;
          statements += countStatements(pending.subarray(HEADER_BYTES, end));
        }
        pending = pending.subarray(end);
      }
    });
    client.pipe(upstream).pipe(client);
    pairs.add([client, upstream]);
    for (const socket of [client, upstream]) {
      socket.on("error", () => {
        client.destroy();
        upstream.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = new URL(serverUrl);
  url.hostname = "127.0.0.1";
  url.port = `${(server.address() as net.AddressInfo).port}`;
  return {
    url: url.href,
    /** Commands sent to the database so far; each is one round trip. */
    commands: () => commands,
    /** Statements sent to the database so far, those of one packet one by one. */
    statements: () => statements,
    /** Passes nothing on any more over the connections that are open, as when a host loses its power. */
    fallSilent() {
      for (const [client, upstream] of pairs) {
        client.unpipe(upstream);
        upstream.unpipe(client);
      }
    },
    stop(): Promise<void> {
      for (const pair of pairs) for (const socket of pair) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** What separates two statements is in no value: there a line's end is escaped. */
function countStatements(payload: Buffer): number {
  if (payload[0] === COM_STMT_EXECUTE) return 1;
  if (payload[0] !== COM_QUERY) return 0;
  return payload.toString("latin1").split(";\n").length;
}
