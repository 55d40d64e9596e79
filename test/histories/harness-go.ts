import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { runCommand } from "../../dev-stack/src/run-command.ts";
import { untilListening } from "../harness/listening.ts";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const TOXIPROXY = "github.com/Shopify/toxiproxy/v2/cmd/server";

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

/** Builds Toxiproxy and the checker into a folder. */
export async function buildPrograms(folder: string): Promise<void> {
  const build = ["-C", HERE, "build", "-o", `${folder}/`, ".", TOXIPROXY];
  const { status, lines } = await runCommand("go", build);
  if (status !== 0) throw new Error(`The histories need Go 1.26: ${lines.slice(-3).join("; ")}`);
}

/** Returns each account whose history is not linearizable, or takes too long to decide, with the checker's verdict. */
export async function findFaults(folder: string, history: readonly Operation[]): Promise<string[]> {
  const checker = spawn(join(folder, "histories"), { stdio: ["pipe", "pipe", "inherit"] });
  checker.stdin.end(history.map((one) => `${JSON.stringify(one)}\n`).join(""));
  const [printed, [status]] = await Promise.all([text(checker.stdout), once(checker, "exit")]);
  const verdicts = printed.split("\n").filter((line) => line !== "");
  const accounts = new Set(history.map(({ account }) => account));
  if (status !== 0 || verdicts.length !== accounts.size) {
    throw new Error(`the checker decided ${verdicts.length} of ${accounts.size} accounts`);
  }
  return verdicts.filter((line) => !line.endsWith(" Ok"));
}

/** A link from one process to another. It can be cut, slowed and healed. */
export type Link = Awaited<ReturnType<Awaited<ReturnType<typeof startToxiproxy>>["link"]>>;

/** Starts Toxiproxy, which makes the links between processes. */
export async function startToxiproxy(folder: string) {
  const port = await findFreePort();
  const child = spawn(join(folder, "server"), ["-port", `${port}`], { stdio: "ignore" });
  await untilListening(child, port);

  async function api(method: string, path: string, body?: object): Promise<void> {
    const sent = body && { body: JSON.stringify(body) };
    const ask = () => fetch(`http://127.0.0.1:${port}${path}`, { method, ...sent });
    let answer = await ask();
    // Toxiproxy answers 503 when a connection has not let go of a toxic within five seconds.
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
