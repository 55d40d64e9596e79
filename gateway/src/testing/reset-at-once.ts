import { once } from "node:events";
import { Worker } from "node:worker_threads";

const WITHIN_MS = 10_000;
/** Runs in the worker: connects, asks, and resets once what it sent has left. */
const CLIENT = `
  const { connect } = require("node:net");
  const { port, text, told } = require("node:worker_threads").workerData;
  const socket = connect(port, "127.0.0.1", () => {
    socket.write(text, () => socket.resetAndDestroy());
  });
  socket.on("close", () => {
    Atomics.store(told, 0, 1);
    Atomics.notify(told, 0);
  });
`;

/** Sends a request and resets its connection, while this thread is held up: the connection is not accepted before. */
export async function resetAtOnce(port: number, text: string): Promise<void> {
  const told = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(CLIENT, { eval: true, workerData: { port, text, told } });
  await once(worker, "online");
  const outcome = Atomics.wait(told, 0, 0, WITHIN_MS);
  await worker.terminate();
  if (outcome === "timed-out") throw new Error("the client did not reset its connection");
}
