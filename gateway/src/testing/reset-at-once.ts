import { once } from "node:events";
import { Worker } from "node:worker_threads";

const WITHIN_MS = 10_000;
/** Runs in the worker: connects, sends the request, and then resets the connection. */
const CLIENT = `
  const { connect } = require("node:net");
  const { port, text, closed } = require("node:worker_threads").workerData;
  const socket = connect(port, "127.0.0.1", () => {
    socket.write(text, () => socket.resetAndDestroy());
  });
  socket.on("close", () => {
    Atomics.store(closed, 0, 1);
    Atomics.notify(closed, 0);
  });
`;

/**
 * Sends a request and resets its connection before the server accepts it. This thread would accept it, so it blocks
 * meanwhile.
 */
export async function resetAtOnce(port: number, text: string): Promise<void> {
  const closed = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(CLIENT, { eval: true, workerData: { port, text, closed } });
  await once(worker, "online");
  const outcome = Atomics.wait(closed, 0, 0, WITHIN_MS);
  await worker.terminate();
  if (outcome === "timed-out") throw new Error("the client did not reset its connection");
}
