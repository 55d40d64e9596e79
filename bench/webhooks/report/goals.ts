import { atLeast, atMost, type Goal } from "../../report/goal.ts";
import { labelOf, MANY_WRITERS, WRITE_CASES } from "../cases/write-case.ts";
import { LAYOUT_LABELS, LayoutName } from "../layouts/layout.ts";
import { findCase, type Results } from "./results.ts";

const TIMES_FLOOR: Readonly<Record<LayoutName, number>> = {
  [LayoutName.OneProcess]: 10,
  [LayoutName.OwnProcess]: 14,
};
const CPU_MS = 1.5;
const P50_MS = 300;
const STEADY_CPU_MS = 5;
const STEADY_P50_MS = 6;

/** Returns the goals that the cases of a run can be held against, beside what was measured. */
export function goalsOf(results: Results): Goal[] {
  const goals: Goal[] = [];
  for (const layout of Object.values(LayoutName)) {
    for (const writeCase of WRITE_CASES) {
      const found = findCase(results, layout, writeCase.name);
      const isSteady = writeCase.perSecond !== undefined;
      if (found === undefined || !(isSteady || writeCase.writers === MANY_WRITERS)) continue;
      const label = `${LAYOUT_LABELS[layout]}, ${labelOf(writeCase, results.settings.accounts)}`;
      if (!isSteady) {
        goals.push(
          atLeast(`${label}: against the floor`, TIMES_FLOOR[layout], found.timesFloor, "×"),
        );
      }
      goals.push(
        atMost(`${label}: CPU`, isSteady ? STEADY_CPU_MS : CPU_MS, found.wholeCpuMs, "ms"),
        atMost(`${label}: p50`, isSteady ? STEADY_P50_MS : P50_MS, found.p50Ms, "ms"),
      );
    }
  }
  return goals;
}
