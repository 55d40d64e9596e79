import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { grouped } from "../report/table.ts";
import { SHARDS, simulate } from "./simulate.ts";
import { tablesOf } from "./tables.ts";

const PAGE = new URL("../../docs/scale.md", import.meta.url);
const EVENTS_A_SECOND = 1_000_000 / 86_400;
const simulation = simulate();

it("docs/scale.md shows what the simulation tells", () => {
  const page = readFileSync(PAGE, "utf8");
  const { shards, bursts } = tablesOf(simulation);
  for (const table of [shards, bursts]) expect(page).toContain(table);
  const hundredth = simulation.dead.find(({ share }) => share === 0.01);
  const asleep = grouped(hundredth?.asleep ?? 0);
  const due = grouped(hundredth?.temporalBack.dueAtOnce ?? 0);
  expect(page).toContain(`With 1 % of a million events, ${asleep} sleep and ${due} are due`);
  const longest = simulation.outages.at(-1);
  expect(longest?.minutes).toBe(360);
  expect(page).toContain(`${longest?.duePeak} when it was away for six hours`);
});

it("a million accounts are even over the shards, to 1 %", () => {
  for (const [place, shards] of SHARDS.entries()) {
    expect((simulation.accounts[place] ?? 0) * shards).toBeLessThan(1.01);
  }
});

it("beyond its even share the fullest shard has what twice the largest account has, and 1 % of all, at most", () => {
  for (const { largest, fullest } of simulation.skews) {
    for (const [place, shards] of SHARDS.entries()) {
      expect((fullest[place] ?? 0) - 1 / shards).toBeLessThan(2 * largest + 0.01);
    }
  }
});

it("93 of a hundred events a day that nobody answers are asleep, and a fifth wait for Temporal after an hour", () => {
  for (const { share, asleep, temporalBack } of simulation.dead) {
    const eventsADay = share * 1_000_000;
    expect(asleep / eventsADay).toBeCloseTo(0.93, 1);
    expect(temporalBack.dueAtOnce / eventsADay).toBeCloseTo(0.22, 1);
  }
});

it("after an outage no second brings more retries than eight seconds bring events", () => {
  for (const { dueAtOnce, duePeak } of simulation.outages) {
    expect(dueAtOnce).toBe(0);
    expect(duePeak).toBeLessThan(8 * EVENTS_A_SECOND);
  }
});

it("who has one event waits for one claim of each account that has many, and never for a backlog", () => {
  for (const { hotAccounts, delays, inOrder } of simulation.bursts) {
    expect(delays.longest).toBeLessThan((hotAccounts * 64) / 512 + 0.25);
    expect(delays.longest).toBeLessThan(inOrder / 4);
  }
});
