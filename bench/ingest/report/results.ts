import { median } from "../../measure/sample.ts";
import type { Machine } from "../../report/machine.ts";
import type { Imports } from "../cases/measure-imports.ts";
import {
  SideName,
  type SingleRound,
  type SingleRun,
  type SpreadName,
} from "../cases/measure-singles.ts";
import type { Settings } from "../settings.ts";

/** Everything a run measured: what results/ingest.json holds. */
export type Results = {
  readonly machine: Machine;
  readonly settings: Settings;
  readonly singles: readonly SingleRound[];
  readonly imports: Imports;
};

/** Returns the median over the rounds of what one side did. */
export function medianOf(
  { singles }: Results,
  side: SideName,
  spread: SpreadName,
  pick: (run: SingleRun) => number,
): number {
  return median(singles.map((round) => pick(round[side][spread])));
}

/** Compares the product with the program by hand round by round; the median of that. */
export function timesByHand({ singles }: Results, spread: SpreadName): number {
  return median(
    singles.map(
      (round) =>
        round[SideName.Product][spread].perSecond / round[SideName.ByHand][spread].perSecond,
    ),
  );
}

/** Returns the median rate of the imports. */
export function importRate({ imports }: Results): number {
  return median(imports.rounds.map(({ rowsPerSecond }) => rowsPerSecond));
}
