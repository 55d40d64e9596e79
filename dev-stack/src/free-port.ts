import { readFileSync } from "node:fs";
import { createServer } from "node:net";

/** The only address the servers of the stack listen on. */
export const LOOPBACK = "127.0.0.1";

const LOWEST = 10_000;
/** The port behind each stays free: some servers take that too, as Temporal does for its metrics. */
const STEP = 2;
const COUNT = Math.floor((findEnd() - LOWEST) / STEP);
/** Each process looks in a place of its own first: two that look at the same time would find the same port. */
let looked = process.pid * 16;

/**
 * Finds a TCP port on loopback that nobody listens on, below those that the system gives to
 * outgoing connections. So none of these takes it before its owner listens. A process is not told
 * the same port twice.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = LOWEST + STEP * (looked++ % COUNT);
    if (await isPortFree(port)) return port;
  }
}

/** Finds such ports that differ. */
export function findFreePorts(count: number): Promise<number[]> {
  return Promise.all(Array.from({ length: count }, findFreePort));
}

/** Tells whether nobody listens on a TCP port of loopback at this moment. */
export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(false));
    const close = () => server.close(() => resolve(true));
    server.listen({ host: LOOPBACK, port, exclusive: true }, close);
  });
}

/** The first port of outgoing connections, or one below. Linux tells where they begin, which is not the same everywhere. */
function findEnd(): number {
  const usual = 32_000;
  try {
    const range = readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8");
    const first = Number.parseInt(range, 10);
    // Where they begin at once there is no room below them.
    return first - LOWEST > 1_000 ? Math.min(first, usual) : usual;
  } catch {
    return usual;
  }
}
