import { spawnSync } from "node:child_process";

/** A program that connects, sends a request, and resets its connection. */
const CLIENT = `
  const [port, text] = process.argv.slice(1);
  const socket = require("node:net").connect(port, "127.0.0.1", () => {
    socket.write(text, () => socket.resetAndDestroy());
  });
`;

/**
 * Sends a request and resets its connection before the server accepts it. The server cannot accept it earlier, because
 * this thread also runs the server and waits until the client has exited.
 */
export function resetAtOnce(port: number, text: string): void {
  const { status } = spawnSync(process.execPath, ["-e", CLIENT, `${port}`, text], {
    timeout: 10_000,
  });
  if (status !== 0) throw new Error("the client did not reset its connection");
}
