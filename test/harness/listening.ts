import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, connect, type Server } from "node:net";
import { vi } from "vitest";

const LISTEN = { timeout: 30_000, interval: 20 };

/** Makes a server listen on any free port of this machine. Resolves with the port. */
export async function listenLocally(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return (server.address() as AddressInfo).port; // Always an AddressInfo, because it listens on TCP.
}

/**
 * Waits until a child accepts connections at its port. Rejects if the child has ended. It checks by connecting, since
 * a check by listening could take the port from the child.
 */
export async function untilListening(child: ChildProcess, port: number): Promise<void> {
  await vi.waitUntil(() => {
    const ended = child.exitCode ?? child.signalCode;
    if (ended !== null) throw new Error(`it ended with ${ended}`);
    return isListening(port);
  }, LISTEN);
}

/** Whether something accepts connections at a port of this machine. */
export function isListening(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  return new Promise<boolean>((resolve) => {
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
  }).finally(() => socket.destroy());
}
