import type { Figures } from "../measure/figures.ts";
import type { Pids } from "../measure/process-usage.ts";
import type { Run } from "../report/runs.ts";
import type { Bench } from "./bench.ts";

/** One of the things that are measured beside each other. */
export type Side = {
  readonly name: string;
  /** Its processes, once it is started. */
  readonly pids: Pids;
  start(): Promise<void>;
  stop(): Promise<void>;
};

/** One load on one side. */
export type Turn = { readonly side: Side; readonly load: string; run(): Promise<Figures> };

/**
 * Gives each side its turns, round after round, so that whatever else the machine does falls on all of them. A side is
 * started for turns that follow one another, and stopped behind the last of them.
 */
export async function measureRounds(
  bench: Bench,
  rounds: number,
  turnsOf: (round: number) => readonly Turn[],
): Promise<Run[]> {
  const runs: Run[] = [];
  for (let round = 1; round <= rounds; round++) {
    const label = `Round ${round} of ${rounds}`;
    for (const run of await takeTurns(bench, label, turnsOf(round))) runs.push({ round, ...run });
  }
  return runs;
}

/** Gives sides their turns once: what is not kept of it warms them up. */
export async function takeTurns(
  { progress }: Bench,
  label: string,
  turns: readonly Turn[],
): Promise<Omit<Run, "round">[]> {
  const runs: Omit<Run, "round">[] = [];
  let running: Side | undefined;
  for (const { side, load, run } of turns) {
    if (side !== running) {
      await running?.stop();
      running = side;
      await progress.step(`${label}: starting ${side.name}`, () => side.start());
    }
    const figures = await progress.step(`${label}: ${side.name}, ${load}`, run);
    runs.push({ side: side.name, load, figures });
  }
  await running?.stop();
  return runs;
}

/** Makes a side of what runs from the beginning of a bench to its end. */
export function keptSide<More extends object>(name: string, pids: Pids, more: More): Side & More {
  return { name, pids, start: async () => {}, stop: async () => {}, ...more };
}
