import type { Figures } from "../measure/figures.ts";
import { median } from "../measure/sample.ts";

/** Which load on which side. */
export type Place = { readonly side: string; readonly load: string };

/** What was measured in one turn. */
export type Run = Place & { readonly round: number; readonly figures: Figures };

/** A figure by its name, or what is made of several. */
export type Figure = string | ((figures: Figures) => number);

/** Returns a figure of each round; none of what was not measured. */
export function valuesOf(runs: readonly Run[], { side, load }: Place, figure: Figure): number[] {
  return runs
    .filter((run) => run.side === side && run.load === load)
    .map(({ figures }) => pick(figures, figure));
}

/** Returns the median of a figure over the rounds. */
export function medianOf(runs: readonly Run[], place: Place, figure: Figure): number {
  return median(valuesOf(runs, place, figure));
}

/** Compares two places round by round, for they ran one after the other; returns the median of that. */
export function ratioOf(
  runs: readonly Run[],
  place: Place,
  other: Place,
  figure: Figure = "perSecond",
): number {
  const others = valuesOf(runs, other, figure);
  const ratios = valuesOf(runs, place, figure).map((value, round) => {
    return value / (others[round] ?? Number.NaN);
  });
  return median(ratios);
}

function pick(figures: Figures, figure: Figure): number {
  return typeof figure === "string" ? (figures[figure] ?? Number.NaN) : figure(figures);
}
