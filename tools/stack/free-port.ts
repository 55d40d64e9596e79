import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** The only address the servers of the stack listen on. */
export const LOOPBACK = "127.0.0.1";

const LOWEST = 11_000;
const HIGHEST = 32_000;

/**
 * Finds a TCP port on loopback that nobody listens on at this moment, below those that systems give to outgoing
 * connections: until its owner listens none of these takes it, and nobody who tries it is connected to himself.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST);
    if (await isPortFree(port)) return port;
  }
}

/** Finds such ports that differ. */
export async function findFreePorts(count: number): Promise<number[]> {
  const found = new Set<number>();
  while (found.size < count) found.add(await findFreePort());
  return [...found];
}

/** Tells whether nobody listens on a TCP port of loopback at this moment. */
export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ host: LOOPBACK, port, exclusive: true }, () => {
      server.close(() => resolve(true));
    });
  });
}
