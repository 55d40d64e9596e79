import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { oneAhead } from "./one-ahead.ts";

/** Creates a source, and lists the items that it made. */
function countTo(last: number, failure?: Error) {
  const made: number[] = [];
  async function* source() {
    for (let number = 1; number <= last; number += 1) {
      made.push(number);
      yield number;
    }
    if (failure !== undefined) throw failure;
  }
  return { made, items: oneAhead(source()) };
}

it("yields all items in order, and prepares one ahead", async () => {
  const { made, items } = countTo(3);
  const given: number[] = [];
  for await (const item of items) {
    given.push(item);
    await turn();
    expect(made).toHaveLength(Math.min(given.length + 1, 3));
  }
  expect(given).toEqual([1, 2, 3]);
});

it("fails after the items that the source gave", async () => {
  const failure = new Error("broke off");
  const { items } = countTo(2, failure);
  const given: number[] = [];
  const run = async () => {
    for await (const item of items) {
      given.push(item);
      await turn();
    }
  };
  await expect(run()).rejects.toBe(failure);
  expect(given).toEqual([1, 2]);
});

it("ends at once for a reader that leaves, even if the next item never comes", async () => {
  async function* source() {
    yield 1;
    await new Promise(() => undefined);
  }
  for await (const item of oneAhead(source())) {
    expect(item).toBe(1);
    break;
  }
});
