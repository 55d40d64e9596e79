import { once } from "node:events";
import { Worker } from "node:worker_threads";

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
  Atomics.wait(told, 0, 0);
  await worker.terminate();
}
