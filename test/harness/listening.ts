import type { ChildProcess } from "node:child_process";
import { connect } from "node:net";
import { setTimeout as wait } from "node:timers/promises";

const LISTEN_WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 20;

/**
 * Waits until a child accepts connections at its port. Rejects if the child has ended. It checks by connecting, since
 * a check by listening could take the port from the child.
 */
export async function untilListening(child: ChildProcess, port: number): Promise<void> {
  const giveUpAt = performance.now() + LISTEN_WITHIN_MS;
  while (performance.now() < giveUpAt) {
    const ended = child.exitCode ?? child.signalCode;
    if (ended !== null) throw new Error(`it ended with ${ended}`);
    if (await isListening(port)) return;
    await wait(LOOK_EVERY_MS);
  }
  throw new Error("it does not listen");
}

/** Whether something accepts connections at a port of this machine. */
export function isListening(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  return new Promise<boolean>((resolve) => {
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
  }).finally(() => socket.destroy());
}
