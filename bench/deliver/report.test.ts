import { expect, it } from "vitest";
import { ALONE, COUNTING, STEADY, WRITING } from "./places.ts";
import { deliverGoals } from "./report.ts";

it("counts Temporal's CPU in the cost of an event and of a delivery", () => {
  const run = (load: string, ms: number) => {
    const figures = { "cpu product": ms, "cpu database": ms, "cpu Temporal": ms };
    return { side: ALONE, load, figures };
  };
  const runs = [run(WRITING, 1), run(STEADY, 3), run("one-receiver", 4), run(COUNTING, 1)];
  const costs = deliverGoals(runs, false).filter(({ text }) => text.endsWith(": CPU"));
  expect(costs.map(({ measured }) => measured).slice(0, 2)).toEqual([6, 15]);
});
