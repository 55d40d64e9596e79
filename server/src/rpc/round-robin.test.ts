import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { createRoundRobin } from "./round-robin.ts";

it("begins four tasks in a turn of the event loop, round-robin by owner", async () => {
  const queue = createRoundRobin();
  const begun: string[] = [];
  const add = (owner: string, name: string) => queue.add(owner, () => begun.push(name) > 0);
  for (let count = 1; count <= 6; count++) add("much", `much ${count}`);
  add("little", "little");
  expect(begun).toEqual([]);
  await turn();
  expect(begun).toEqual(["much 1", "little", "much 2", "much 3"]);
  add("late", "late");
  await turn();
  expect(begun.slice(4)).toEqual(["much 4", "late", "much 5", "much 6"]);
  add("again", "again");
  await turn();
  expect(begun.at(-1)).toBe("again");
});

it("does not count tasks that begin nothing", async () => {
  const queue = createRoundRobin();
  let asked = 0;
  for (let count = 1; count <= 100; count++) queue.add("much", () => ++asked < 0);
  await turn();
  expect(asked).toBe(100);
});
