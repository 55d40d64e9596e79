import type { Figures } from "../measure/figures.ts";
import type { Pids } from "../measure/process-usage.ts";
import type { Run } from "../report/runs.ts";
import type { Bench } from "./bench.ts";

/** One of the compared programs. */
export type Side = {
  readonly name: string;
  /** Its processes, once started. */
  readonly pids: Pids;
  start(): Promise<void>;
  stop(): Promise<void>;
};

/** One load on one side. */
type Turn = { readonly side: Side; readonly load: string; run(): Promise<Figures> };

/**
 * Measures the sides in turn, round by round, so that the machine's other load affects all of them. A side is started
 * before its consecutive turns and stopped after them.
 */
export async function measureRounds(
  bench: Bench,
  rounds: number,
  turnsOf: (round: number) => readonly Turn[],
): Promise<Run[]> {
  const runs: Run[] = [];
  for (let round = 1; round <= rounds; round++) {
    const label = `Round ${round} of ${rounds}`;
    runs.push(...(await takeTurns(bench, label, turnsOf(round))));
  }
  return runs;
}

/** Runs each turn once. Ignore the result to warm up. */
export async function takeTurns(
  { progress }: Bench,
  label: string,
  turns: readonly Turn[],
): Promise<Run[]> {
  const runs: Run[] = [];
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

/** Makes a side of a program that runs for the whole bench. */
export function keptSide<More extends object>(name: string, pids: Pids, more: More): Side & More {
  return { name, pids, start: async () => {}, stop: async () => {}, ...more };
}
