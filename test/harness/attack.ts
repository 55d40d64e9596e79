import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";

export type Attacker = {
  readonly address: string;
  /** Counts what was sent and what was answered. The process prints the counts at its end. */
  count(what: string, times?: number): void;
};
type Counts = Readonly<Record<string, number>>;

/** Runs the attack that `argv` names, with its source address, until standard input ends. Then prints its counts. */
export async function runAttack<Target>(
  attacks: Readonly<Record<string, (target: Target & Attacker) => Promise<unknown>>>,
  targetOf: (args: string[]) => Target,
): Promise<never> {
  const [attack = "", address = "", ...args] = process.argv.slice(2);
  const counts: Record<string, number> = {};
  // A failure ends the process without counts.
  void attacks[attack]?.({
    ...{ ...targetOf(args), address },
    count(what, times = 1) {
      counts[what] = (counts[what] ?? 0) + times;
    },
  });
  await once(process.stdin.resume(), "end");
  console.log(JSON.stringify(counts));
  process.exit();
}

/**
 * Runs an attack in a child process while `work` runs. The attack begins `aheadMs` before `work`. Also returns how long
 * the attack took.
 */
export async function beside<Result>(
  args: readonly [file: string, attack: string, address: string, ...string[]],
  aheadMs: number,
  work: () => Promise<Result>,
): Promise<{ result: Result; flood: Counts; tookMs: number }> {
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  const report = text(child.stdout);
  const beganMs = performance.now();
  await wait(aheadMs);
  const result = await work().finally(() => child.stdin.end());
  const flood = JSON.parse(await report);
  return { result, flood, tookMs: performance.now() - beganMs };
}

export async function askAtOwnPace(
  { clients, each, spreadMs }: { clients: number; each: number; spreadMs: number },
  ask: (client: number) => Promise<string>,
): Promise<Counts> {
  const ends: Record<string, number> = {};
  await inParallel(clients, async (client) => {
    await wait((client / clients) * (spreadMs / each));
    for (let count = 0; count < each; count++) {
      const end = await ask(client);
      ends[end] = (ends[end] ?? 0) + 1;
      await wait(spreadMs / each);
    }
  });
  return ends;
}

export const inParallel = <Result>(count: number, work: (index: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)));

/** Connects to a port of this machine from the attacker's address. Counts the connections that are accepted. */
export async function openFrom({ address, count }: Attacker, port: number): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", localAddress: address });
  socket.on("error", () => count("errors"));
  socket.once("connect", () => count("opened"));
  await new Promise((resolve) => socket.once("connect", resolve).once("close", resolve));
  return socket;
}
