import { expect, it } from "vitest";
import { contributionRequest } from "../../load/contribution-request.ts";
import { Arrivals } from "./arrivals.ts";

const text = (run: string, turn: number) => contributionRequest("", { run, turn }, "").toString();

it("keeps when each event came first, and leaves a gap for what did not come", () => {
  const arrivals = new Arrivals("r-1");
  arrivals.add(text("r-1", 2), 20);
  arrivals.add(text("r-1", 0), 30);
  expect(arrivals.tell()).toEqual({ firstMs: [30, null, 20], again: 0 });
});

it("counts what came again, and what another run left", () => {
  const arrivals = new Arrivals("r-2");
  arrivals.add(text("r-2", 0), 10);
  arrivals.add(text("r-2", 0), 11);
  arrivals.add(text("r-1", 5), 12);
  expect(arrivals.tell()).toEqual({ firstMs: [10], again: 2 });
});

it("waits until all have come", async () => {
  const arrivals = new Arrivals("r-3");
  const all = arrivals.quiet(1, 60_000);
  arrivals.add(text("r-3", 0), 10);
  await expect(all).resolves.toBeUndefined();
});

it("does not wait for ever for what does not come", async () => {
  await expect(new Arrivals("r-4").quiet(1, 10)).resolves.toBeUndefined();
});
