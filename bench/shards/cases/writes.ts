import { randomBytes } from "node:crypto";
import type { ContributionLoad } from "../../load/start-contributions.ts";
import type { CaseRun, MeasuredSide } from "./measure-case.ts";

const WRITERS = 64;

/** Measures contributions that nobody is told of. */
export async function measureWrites(
  side: MeasuredSide,
  load: ContributionLoad,
  { accountIds, seconds }: { readonly accountIds: readonly string[]; readonly seconds: number },
): Promise<CaseRun> {
  const { corePort: port } = await side.run(false);
  const { credential } = side;
  const run = randomBytes(6).toString("hex");
  const job = { run, accountIds, writers: WRITERS, seconds, port, credential };
  const [sample, cpuMs] = await side.measure(() => load.run({ ...job, perSecond: undefined }));
  return { count: sample.requests, perSecond: sample.requests / sample.seconds, cpuMs };
}
