import type { Progress } from "../../dev-stack/src/progress.ts";
import type { Workload } from "../load/workload.ts";
import type { Side, SideName } from "../sides/side.ts";
import { type Memory, readCpuSeconds, readMemory } from "./process-usage.ts";

/** What one side did in one round. */
export type Round = {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor seconds for 1,000 requests: of the side's own processes, the database and the load. */
  readonly cpuPer1000: number;
  readonly databaseCpuPer1000: number;
  readonly loadCpuPer1000: number;
  /** Of each of the side's processes at the end of the round. */
  readonly memory: readonly Memory[];
};

export type Schedule = {
  readonly rounds: number;
  readonly warmUpSeconds: number;
  readonly seconds: number;
};

/**
 * Warms every side up, then gives each its turn, round after round, so that whatever else the machine does
 * falls on all of them.
 */
export async function measureRounds(
  sides: readonly Side[],
  workload: Workload,
  databasePid: number,
  schedule: Schedule,
  progress: Progress,
): Promise<Map<SideName, Round[]>> {
  for (const side of sides) {
    await progress.step(`Warming up for ${workload}: ${side.label}`, async () => {
      await side.prepare(workload);
      await side.run(workload, schedule.warmUpSeconds);
    });
  }
  const measured = new Map<SideName, Round[]>(sides.map(({ name }) => [name, []]));
  for (let round = 1; round <= schedule.rounds; round++) {
    for (const side of sides) {
      const label = `Round ${round} of ${schedule.rounds}, ${workload}: ${side.label}`;
      await side.prepare(workload);
      const result = await progress.step(label, () =>
        measureRound(side, workload, databasePid, schedule),
      );
      measured.get(side.name)?.push(result);
    }
  }
  return measured;
}

async function measureRound(
  side: Side,
  workload: Workload,
  databasePid: number,
  { seconds }: Schedule,
): Promise<Round> {
  const watched = [side.pids, [databasePid], side.loadPids];
  const before = await Promise.all(watched.map(readCpuSeconds));
  const sample = await side.run(workload, seconds);
  const after = await Promise.all(watched.map(readCpuSeconds));
  const perThousand = (index: number) =>
    (1000 * ((after[index] ?? 0) - (before[index] ?? 0))) / sample.requests;
  return {
    requestsPerSecond: sample.requests / sample.seconds,
    p50Ms: sample.p50Ms,
    p99Ms: sample.p99Ms,
    cpuPer1000: perThousand(0),
    databaseCpuPer1000: perThousand(1),
    loadCpuPer1000: perThousand(2),
    memory: await readMemory(side.pids),
  };
}
