import { table } from "./table.ts";

const DIGITS = { "×": 2, "/s": 0, MB: 0, KB: 1, ms: 2, "%": 1, "": 1 } as const;

/** A goal of the product and the measured value. */
export type Goal = {
  readonly text: string;
  readonly bound: "at least" | "at most";
  readonly goal: number;
  readonly measured: number;
  readonly unit: keyof typeof DIGITS;
};

/** Makes a goal for which more is better. */
export function atLeast(text: string, goal: number, measured: number, unit: Goal["unit"]): Goal {
  return { text, bound: "at least", goal, measured, unit };
}

/** Makes a goal for which less is better. */
export function atMost(text: string, goal: number, measured: number, unit: Goal["unit"]): Goal {
  return { text, bound: "at most", goal, measured, unit };
}

/** Returns the table of goals. It says by how many percent a goal is missed. */
export function goalTable(goals: readonly Goal[]): string[] {
  return table(goals, [
    ["goal", ({ text }) => text],
    ["wanted", ({ bound, goal, unit }) => `${bound} ${goal} ${unit}`],
    ["measured", ({ measured, unit }) => `${measured.toFixed(DIGITS[unit])} ${unit}`],
    ["", verdict],
  ]);
}

function verdict({ bound, goal, measured }: Goal): string {
  if (bound === "at least" ? measured >= goal : measured <= goal) return "met";
  return `MISSED by ${((100 * Math.abs(measured - goal)) / goal).toFixed(0)} %`;
}
