import type { startSide } from "../sides.ts";

/** The product on one store, whose processes are watched. */
export type MeasuredSide = Awaited<ReturnType<typeof startSide>>;

/** What is measured on each side, in the order of a round. */
export const CaseName = { Reads: "reads", Writes: "writes", Deliveries: "deliveries" } as const;
export type CaseName = (typeof CaseName)[keyof typeof CaseName];

/** One measurement of one side. */
export type CaseRun = {
  /** Pages, contributions or deliveries. */
  readonly count: number;
  readonly perSecond: number;
  /** Processor milliseconds of each of the side's processes, for all of them. */
  readonly cpuMs: Awaited<ReturnType<MeasuredSide["measure"]>>[1];
};
