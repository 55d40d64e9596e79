import { connect, createServer, type Socket } from "node:net";
import { listenLocally } from "./listening.ts";

/**
 * Opens a port that forwards to another port of this machine. The target can be changed or removed. Each connection
 * waits for `admits` and is closed unless the result is `true`. `watch` may read what the client sends.
 */
export async function openDoor(
  port: number,
  admits: () => boolean | Promise<boolean> = () => true,
  watch: (client: Socket) => void = () => undefined,
) {
  let target: number | undefined = port;
  const open = new Set<Socket>();
  const keep = (socket: Socket) => {
    open.add(socket);
    socket.on("error", () => undefined).on("close", () => open.delete(socket));
  };
  const door = createServer(async (client) => {
    keep(client);
    if (!(await admits()) || target === undefined) return client.destroy();
    const server = connect(target, "127.0.0.1");
    keep(server);
    watch(client);
    client.pipe(server).pipe(client);
    // If the client closed while it waited, closes the other side too.
    if (client.destroyed) server.destroy();
  });
  const leadTo = (next: number | undefined) => {
    target = next;
    for (const socket of open) socket.destroy();
  };
  return {
    port: await listenLocally(door),
    leadTo,
    /** Leads new connections to another port. The open ones stay. */
    leadNextTo(next: number) {
      target = next;
    },
    /** Passes nothing more on the open connections, and keeps them. New ones work. */
    silenceOpen() {
      for (const socket of open) socket.unpipe().resume();
    },
    close() {
      leadTo(undefined);
      door.close();
    },
  };
}
