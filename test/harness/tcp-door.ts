import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A port that leads to another port of this machine, to a further one later, or to none. */
export type Door = Awaited<ReturnType<typeof openDoor>>;

/** Opens one. A connection waits until `admits` resolves; it is cut where that is not `true`. */
export async function openDoor(
  port: number,
  admits: () => boolean | Promise<boolean> = () => true,
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
    client.pipe(server).pipe(client);
    // One that was cut while it waited leads nowhere.
    if (client.destroyed) server.destroy();
  });
  await once(door.listen(0, "127.0.0.1"), "listening");
  const leadTo = (next: number | undefined) => {
    target = next;
    for (const socket of open) socket.destroy();
  };
  return {
    port: (door.address() as AddressInfo).port, // It listens on TCP.
    leadTo,
    close() {
      leadTo(undefined);
      door.close();
    },
  };
}
