import { readFileSync } from "node:fs";
import { createServer } from "node:net";

/** The only address on which the stack's servers listen. */
export const LOOPBACK = "127.0.0.1";

/** The lowest port to search. It is above 10080, the last port that browsers and `fetch` refuse. */
const LOWEST = 10_100;
/**
 * The distance between two searched ports. The port between them stays free, because some servers use the next port,
 * such as Temporal for its metrics.
 */
const STEP = 2;
const COUNT = Math.floor((findEnd() - LOWEST) / STEP);
/**
 * Each process starts its search at another port. Otherwise two processes that search at the same time would find the
 * same port.
 */
let looked = process.pid * 16;

/**
 * Finds a free TCP port on loopback. On Linux, nobody gets a port again while the process that got it runs. The port is
 * below the ports of outgoing connections if enough ports are. A connection could take a higher port before its owner
 * listens.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = LOWEST + STEP * (looked++ % COUNT);
    if ((await isPortFree(port)) && (await reserve(port))) return port;
  }
}

/**
 * Reserves a port against other processes that search, until this process ends. Only Linux has such abstract socket
 * names.
 */
function reserve(port: number): Promise<boolean> {
  if (process.platform !== "linux") return Promise.resolve(true);
  return new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(false));
    server.listen({ path: `\0personal-activity-port-${port}` }, () => resolve(true)).unref();
  });
}

/** Finds several different ports. */
export function findFreePorts(count: number): Promise<number[]> {
  return Promise.all(Array.from({ length: count }, findFreePort));
}

/** Tells whether a TCP port of loopback is free now. */
export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(false));
    const close = () => server.close(() => resolve(true));
    server.listen({ host: LOOPBACK, port, exclusive: true }, close);
  });
}

/**
 * Returns the end of the ports to search: the first port of outgoing connections, but at most 32,000. Only Linux names
 * that port.
 */
function findEnd(): number {
  const usual = 32_000;
  try {
    const range = readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8");
    const first = Number.parseInt(range, 10);
    // If the range begins too low, too few ports are below it. The found ports are then in the range.
    return first - LOWEST > 1_000 ? Math.min(first, usual) : usual;
  } catch {
    return usual;
  }
}
