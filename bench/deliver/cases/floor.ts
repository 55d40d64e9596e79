import type { BenchStack } from "../bench-stack.ts";
import { type CaseRun, measureCase } from "./case-run.ts";

/** Measures the floor of Temporal: empty workflows, started eagerly, until each has ended. */
export function measureFloor(stack: BenchStack, workflows: number): Promise<CaseRun> {
  const { floorWorker, temporalAddress: address } = stack;
  return measureCase(stack, workflows, async () => {
    const { seconds } = await floorWorker.run({ do: "empty", address, workflows });
    return seconds;
  });
}
