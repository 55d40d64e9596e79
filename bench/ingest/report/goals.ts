import { atLeast, atMost, type Goal } from "../../report/goal.ts";
import { SideName, SpreadName } from "../cases/measure-singles.ts";
import type { Settings } from "../settings.ts";
import { importRate, medianOf, type Results, timesByHand } from "./results.ts";

const SINGLES_PER_SECOND = 1_800;
const TIMES_BY_HAND = 1.5;
const IMPORTED_PER_SECOND = 30_000;
const IMPORT_PEAK_MB = 200;

/** For people. */
export function spreadLabel(spread: SpreadName, { accounts }: Settings): string {
  return spread === SpreadName.One ? "1 account" : `${accounts.toLocaleString("en")} accounts`;
}

/** Returns the goals of writing, beside what was measured. */
export function goalsOf(results: Results): Goal[] {
  const singles = Object.values(SpreadName).flatMap((spread) => {
    const label = spreadLabel(spread, results.settings);
    const rate = medianOf(results, SideName.Product, spread, ({ perSecond }) => perSecond);
    return [
      atLeast(`contributions, ${label}`, SINGLES_PER_SECOND, rate, "/s"),
      atLeast(
        `contributions, ${label}: against by hand`,
        TIMES_BY_HAND,
        timesByHand(results, spread),
        "×",
      ),
    ];
  });
  return [
    ...singles,
    atLeast("imported rows", IMPORTED_PER_SECOND, importRate(results), "/s"),
    atMost(
      "resident memory, core that imports, peak",
      IMPORT_PEAK_MB,
      results.imports.peakMb,
      "MB",
    ),
  ];
}
