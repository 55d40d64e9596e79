import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { createProgress } from "../../dev-stack/src/progress.ts";
import { runCommand } from "../../dev-stack/src/run-command.ts";
import { buildGoModule } from "../harness/go-module.ts";
import { untilListening } from "../harness/listening.ts";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const TOXIPROXY = {
  title: "Toxiproxy",
  module: "github.com/Shopify/toxiproxy/v2@v2.5.0",
  sum: "h1:i4LPT+qrSlKNtQf5QliVjdP08GyAH8+BUIc9gT0eahc=",
  packages: ["./cmd/server"],
  folder: "toxiproxy-v2.5.0",
};

/** One operation on the feed of an account, as `checker.go` reads it. Times are in microseconds. */
export type Operation = {
  readonly account: string;
  readonly client: number;
  readonly kind: "add" | "remove" | "read";
  readonly record?: string;
  readonly page?: readonly string[];
  /** The record's recorded-at time, from the answer to an add. */
  readonly recordedAt?: number;
  readonly call: number;
  readonly return?: number;
};

export async function buildChecker(folder: string): Promise<void> {
  const { status, lines } = await runCommand("go", ["-C", HERE, "build", "-o", `${folder}/`, "."]);
  if (status !== 0) throw new Error(`The histories need Go 1.26: ${lines.slice(-3).join("; ")}`);
}

/** Returns each account whose history is not linearizable, or takes too long to decide, with the checker's verdict. */
export async function findFaults(folder: string, history: readonly Operation[]): Promise<string[]> {
  const input = history.map((one) => `${JSON.stringify(one)}\n`).join("");
  const { status, lines: verdicts } = await runCommand(join(folder, "histories"), [], { input });
  const accounts = new Set(history.map(({ account }) => account));
  if (status !== 0 || verdicts.length !== accounts.size) {
    const last = verdicts.at(-1);
    throw new Error(`the checker did not decide ${accounts.size} accounts: ${status}, ${last}`);
  }
  return verdicts.filter((line) => !line.endsWith(" Ok"));
}

/** A link from one process to another. It can be cut, slowed and healed. */
export type Link = Awaited<ReturnType<Awaited<ReturnType<typeof startToxiproxy>>["link"]>>;

/** Starts Toxiproxy, which makes the links between processes. */
export async function startToxiproxy() {
  const there = { env: process.env, progress: createProgress() };
  const folder = await buildGoModule(TOXIPROXY, there);
  const port = await findFreePort();
  const child = spawn(join(folder, "server"), ["-port", `${port}`], { stdio: "ignore" });
  await untilListening(child, port);

  async function api(method: string, path: string, body?: object): Promise<void> {
    const sent = body && { body: JSON.stringify(body) };
    const ask = () => fetch(`http://127.0.0.1:${port}${path}`, { method, ...sent });
    let answer = await ask();
    // Asks again after a 503: Toxiproxy could not remove a toxic from a connection within five seconds.
    for (let again = 0; answer.status === 503 && again < 5; again++) answer = await ask();
    if (!answer.ok && answer.status !== 404) throw new Error(`${path}: ${await answer.text()}`);
  }

  return {
    async link(name: string, to: number) {
      const from = await findFreePort();
      const proxy = { name, listen: `127.0.0.1:${from}`, upstream: `127.0.0.1:${to}` };
      await api("POST", "/proxies", proxy);
      const toxics = `/proxies/${name}/toxics`;
      const add = (type: string, stream: string, attributes: object) =>
        api("POST", toxics, { name: `${type}-${stream}`, type, stream, attributes });
      return {
        ...{ name, port: from },
        /** Drops all bytes in one direction. Connections stay open. */
        cut: (stream: "upstream" | "downstream") => add("timeout", stream, { timeout: 0 }),
        slow: (ms: number) => add("latency", "downstream", { latency: ms, jitter: ms >> 1 }),
        narrow: (kilobytes: number) => add("bandwidth", "downstream", { rate: kilobytes }),
        /** Resets each connection after some milliseconds. */
        reset: (ms: number) => add("reset_peer", "downstream", { timeout: ms }),
        /** Ends the connections that were cut, and lets new ones through. */
        async heal() {
          for (const type of ["timeout", "latency", "bandwidth", "reset_peer"]) {
            for (const stream of ["upstream", "downstream"]) {
              await api("DELETE", `${toxics}/${type}-${stream}`);
            }
          }
        },
      };
    },
    async stop() {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}
