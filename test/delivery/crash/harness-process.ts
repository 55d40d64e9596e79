import { readFile, stat } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type ServerProcess, spawnServer } from "../../../dev-stack/src/server-process.ts";

/** Something with a process of its own that is killed and started again. */
export type Victim = {
  /** Starts it and waits until it works. */
  start(): Promise<void>;
  /** Ends it at once, `kill -9`. Throws when it had ended by itself before. */
  kill(): Promise<void>;
  isRunning(): boolean;
};

/** A program that can also be stopped where it is, as by a machine that hangs, and go on later. */
export type NodeVictim = Victim & { pause(): void; resume(): void };

/** A program of this repository, and how to see that it works. */
export type NodeProgram = {
  /** From the root of the repository. */
  readonly script: string;
  readonly env: NodeJS.ProcessEnv;
  /** Receives what it says, of all its lives. */
  readonly logFile: string;
  /** What it logs once it works. */
  readonly readyText: string;
};

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const START_MS = 120_000;
const POLL_MS = 50;
const SHOWN_CHARACTERS = 2_000;

/** Makes a victim of a program. */
export function nodeVictim(program: NodeProgram): NodeVictim {
  let running: ServerProcess | undefined;
  const isRunning = () => running !== undefined && !running.hasEnded();
  const send = (signal: NodeJS.Signals) => {
    if (running === undefined) throw new Error(`${program.script} does not run`);
    process.kill(running.pid, signal);
  };
  return {
    isRunning,
    pause: () => send("SIGSTOP"),
    resume: () => send("SIGCONT"),
    async start() {
      if (isRunning()) throw new Error(`${program.script} runs already`);
      const { script, env, logFile } = program;
      const from = await sizeOf(logFile);
      const command = process.execPath;
      running = await spawnServer({ command, args: [`${ROOT}${script}`], env, logFile });
      await waitUntilReady(program, running, from);
    },
    async kill() {
      const victim = running;
      running = undefined;
      if (victim?.hasEnded()) throw await endedByItself(program);
      await victim?.kill();
    },
  };
}

async function waitUntilReady(
  program: NodeProgram,
  running: ServerProcess,
  from: number,
): Promise<void> {
  const deadline = performance.now() + START_MS;
  for (;;) {
    const said = (await readFile(program.logFile)).toString("utf8", from);
    if (said.includes(program.readyText)) return;
    if (running.hasEnded() || performance.now() > deadline) throw await endedByItself(program);
    await wait(POLL_MS);
  }
}

/** What to know when a program does not run that should. */
async function endedByItself({ script, logFile }: NodeProgram): Promise<Error> {
  const log = await readFile(logFile, "utf8");
  return new Error(`${script} does not run by itself; it said: ${log.slice(-SHOWN_CHARACTERS)}`);
}

async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => undefined))?.size ?? 0;
}
