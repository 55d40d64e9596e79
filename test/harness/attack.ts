import { spawn } from "node:child_process";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";

/** The parameters of an attack: its source address and its end. */
export type Attacker = {
  readonly address: string;
  isOver(): boolean;
  /** Counts what was sent and what was answered. The process prints the counts at its end. */
  count(what: string, times?: number): void;
};
type Counts = Readonly<Record<string, number>>;

/** Runs the attack that `argv` names, then prints its counts. `argv` also has the source address and the duration. */
export async function runAttack<Target>(
  attacks: Readonly<Record<string, (target: Target & Attacker) => Promise<unknown>>>,
  targetOf: (args: string[]) => Target,
): Promise<never> {
  const [attack = "", address = "", durationMs = "", ...args] = process.argv.slice(2);
  const counts: Record<string, number> = {};
  const endMs = performance.now() + Number(durationMs);
  await attacks[attack]?.({
    ...targetOf(args),
    address,
    isOver: () => performance.now() >= endMs,
    count(what, times = 1) {
      counts[what] = (counts[what] ?? 0) + times;
    },
  });
  console.log(JSON.stringify(counts));
  process.exit();
}

/**
 * Runs an attack in a child process while `work` runs. The attack begins `aheadMs` before `work` and ends `aheadMs`
 * after its time.
 */
export async function beside<Result>(
  [file, ...args]: readonly [file: string, attack: string, address: string, ...string[]],
  [aheadMs, spreadMs]: readonly [number, number],
  work: () => Promise<Result>,
): Promise<{ result: Result; flood: Counts }> {
  const [attack = "", address = "", ...more] = args;
  const all = [file, attack, address, `${aheadMs * 2 + spreadMs}`, ...more];
  const child = spawn(process.execPath, all, { stdio: ["ignore", "pipe", "inherit"] });
  const report = text(child.stdout);
  await wait(aheadMs);
  const result = await work();
  return { result, flood: JSON.parse(await report) };
}

/** Runs clients that each ask at a steady pace. Returns how often each answer came. */
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
