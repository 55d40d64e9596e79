import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { createRoundRobin } from "./round-robin.ts";

it("begins four tasks in a turn of the event loop, round-robin by owner", async () => {
  const queue = createRoundRobin();
  const begun: string[] = [];
  const add = (owner: string, name: string) =>
    queue.add(owner, { begin: () => begun.push(name) > 0, refuse() {} });
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
  for (let count = 1; count <= 100; count++)
    queue.add("much", { begin: () => ++asked < 0, refuse() {} });
  await turn();
  expect(asked).toBe(100);
});

it("keeps at most 4,096 tasks waiting, and refuses the last of the owner with most, ADR 0037", async () => {
  const queue = createRoundRobin();
  const refused: string[] = [];
  const add = (owner: string, name: string) =>
    queue.add(owner, { begin: () => true, refuse: () => refused.push(name) });
  for (let count = 1; count <= 96; count++) add("little", `little ${count}`);
  for (let count = 1; count <= 4_000; count++) add("much", `much ${count}`);
  expect(refused).toEqual([]);
  add("little", "little 97");
  add("much", "much 4001");
  expect(refused).toEqual(["much 4000", "much 4001"]);
  // Four tasks begin in a turn, so four more may wait.
  await turn();
  for (let count = 98; count <= 101; count++) add("little", `little ${count}`);
  expect(refused).toHaveLength(2);
});
