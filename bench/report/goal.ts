/** A goal of the product, beside what was measured. */
export type Goal = {
  readonly text: string;
  readonly bound: "at least" | "at most";
  readonly goal: number;
  readonly measured: number;
  readonly unit: "×" | "/s" | "MB" | "KB" | "ms" | "%" | "";
};

/** Makes a goal that more is better for. */
export function atLeast(text: string, goal: number, measured: number, unit: Goal["unit"]): Goal {
  return { text, bound: "at least", goal, measured, unit };
}

/** Makes a goal that less is better for. */
export function atMost(text: string, goal: number, measured: number, unit: Goal["unit"]): Goal {
  return { text, bound: "at most", goal, measured, unit };
}

/** Tells whether a goal is met. */
export function isMet({ bound, goal, measured }: Goal): boolean {
  return bound === "at least" ? measured >= goal : measured <= goal;
}

/** Says by how much a goal is missed, in percent of it. */
export function missedBy({ goal, measured }: Goal): string {
  return `${((100 * Math.abs(measured - goal)) / goal).toFixed(0)} %`;
}
