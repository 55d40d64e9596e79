import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** The only address the servers of the stack listen on. */
export const LOOPBACK = "127.0.0.1";

const LOWEST_LASTING = 20_000;
const HIGHEST_LASTING = 30_000;

/** Finds a TCP port on loopback that nobody listens on at this moment. */
export async function findFreePort(): Promise<number> {
  const port = await listenOnce(0);
  if (port === undefined) throw new Error("the system gave no free port");
  return port;
}

/**
 * Finds a free port below those that systems give to outgoing connections: while its owner is dead, nobody else gets
 * it, and nobody who tries it again and again is connected to himself.
 */
export async function findLastingPort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST_LASTING, HIGHEST_LASTING);
    if (await isPortFree(port)) return port;
  }
}

/** Finds such ports that differ. */
export async function findLastingPorts(count: number): Promise<number[]> {
  const found = new Set<number>();
  while (found.size < count) found.add(await findLastingPort());
  return [...found];
}

/** Tells whether nobody listens on a TCP port of loopback at this moment. */
export async function isPortFree(port: number): Promise<boolean> {
  return (await listenOnce(port)) !== undefined;
}

function listenOnce(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(undefined));
    server.listen({ host: LOOPBACK, port, exclusive: true }, () => {
      const address = server.address();
      const given = typeof address === "object" ? address?.port : undefined;
      server.close(() => resolve(given));
    });
  });
}
