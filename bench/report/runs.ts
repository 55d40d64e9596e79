import type { Figures } from "../measure/figures.ts";
import { median } from "../measure/sample.ts";

/** A load on a side. */
export type Place = { readonly side: string; readonly load: string };

/** The figures of one turn. */
export type Run = Place & { readonly figures: Figures };

/** A figure's name, or a function of several figures. */
export type Figure = string | ((figures: Figures) => number);

/** Returns a figure that adds up others. */
export const sumOf = (...names: readonly string[]): Figure => {
  return (figures) => names.reduce((sum, name) => sum + (figures[name] ?? 0), 0);
};

/** Returns a figure of each round; empty if the place was not measured. */
export function valuesOf(runs: readonly Run[], { side, load }: Place, figure: Figure): number[] {
  return runs
    .filter((run) => run.side === side && run.load === load)
    .map(({ figures }) => pick(figures, figure));
}

/** Returns the median of a figure over the rounds. */
export function medianOf(runs: readonly Run[], place: Place, figure: Figure): number {
  return median(valuesOf(runs, place, figure));
}

/** Returns the median of the rounds' ratios of two places. Other load affects both places of a round alike. */
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
