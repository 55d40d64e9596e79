import { expect, it } from "vitest";
import { Arrivals, textWithId } from "./arrivals.ts";

it("keeps the time of each event's first arrival, and counts repeats and events of other runs", () => {
  const arrivals = new Arrivals("r-2");
  arrivals.add(textWithId("r-2-1"), 20);
  arrivals.add("POST / HTTP/1.1\r\nService-Event-Id: r-2-wev_1\r\n\r\n{}", 30);
  arrivals.add(textWithId("r-2-1"), 40);
  arrivals.add(textWithId("r-1-5"), 50);
  expect(arrivals.tell()).toEqual({ firstMs: { "r-2-1": 20, "r-2-wev_1": 30 }, again: 2 });
});

it("waits for all events, but not for ever for a missing one", async () => {
  const arrivals = new Arrivals();
  const all = arrivals.quiet(1, 60_000);
  arrivals.add(textWithId("one"), 10);
  await expect(all).resolves.toBeUndefined();
  await expect(arrivals.quiet(2, 10)).resolves.toBeUndefined();
});
