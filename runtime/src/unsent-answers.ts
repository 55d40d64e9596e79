import type { Server } from "node:http";
import type { Socket } from "node:net";

const LOOK_AGAIN_MS = 50;

/**
 * Makes a server send its answers before it closes idle connections, also when it closes itself. Node takes a connection
 * for idle as soon as its answer has ended, although most of a large answer may not be sent yet.
 */
export function keepUnsentAnswers(server: Server): void {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = function closeSent() {
    const isSending = [...sockets].some(({ writableLength }) => writableLength > 0);
    if (isSending) setTimeout(closeSent, LOOK_AGAIN_MS);
    else closeIdle();
  };
}
