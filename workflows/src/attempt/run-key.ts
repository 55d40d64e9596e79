import type { RunKey } from "@activity/proto";
import type { Run } from "../common/run.ts";

/** Converts a run for the core. */
export function runToProto({ accountNo, deliveryId, run }: Run) {
  return { accountNo: BigInt(accountNo), deliveryId, run };
}

/** Converts a run of the core. Workflows may hold only these three of its fields. */
export function runFromProto(key: RunKey | undefined): Run {
  if (key === undefined) throw new Error("the core answered without a run");
  const { accountNo, deliveryId, run } = key;
  return { accountNo: Number(accountNo), deliveryId, run };
}
