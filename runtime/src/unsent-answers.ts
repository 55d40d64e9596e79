import type { Server } from "node:http";
import type { Socket } from "node:net";

/**
 * Makes a server send the whole answer before it closes an idle connection, even when the server itself closes. Node
 * regards a connection as idle as soon as its answer has ended, although most of a large answer may not be sent yet.
 * Returns the open connections.
 */
export function keepUnsentAnswers(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => {
    const sending = [...sockets].filter(({ writableLength }) => writableLength > 0);
    for (const socket of sending) socket.destroy = destroyOnceSent;
    closeIdle();
    for (const socket of sending) Reflect.deleteProperty(socket, "destroy");
  };
  return sockets;
}

function destroyOnceSent(this: Socket): Socket {
  this.destroySoon();
  return this;
}
