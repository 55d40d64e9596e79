import { once } from "node:events";
import { connect } from "node:net";

/** Connects, sends a text, and returns the first bytes of the answer. Rejects if none come in time. */
export async function readFirstBytes(
  host: string,
  port: number,
  withinMs: number,
  said = "",
): Promise<Buffer> {
  const socket = connect({ host, port });
  const fail = (why: string) => socket.destroy(new Error(why));
  socket.setTimeout(withinMs, () => fail("no answer in time"));
  socket.once("end", () => fail("it closed the connection"));
  socket.write(said);
  try {
    const [bytes] = await once(socket, "data");
    return bytes;
  } finally {
    socket.destroy();
  }
}
