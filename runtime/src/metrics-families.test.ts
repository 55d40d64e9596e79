import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { createMetrics } from "./metrics-families.ts";

function start() {
  const registry = new Registry();
  const clock = { ms: 0 };
  return {
    clock,
    metrics: createMetrics(registry, () => clock.ms),
    text: () => registry.metrics(),
  };
}

it("counts by labels, and writes Prometheus's format", async () => {
  const { metrics, text } = start();
  const count = metrics.counter("made_total", "Made.", ["code"]);
  count("ok");
  count("ok");
  count('a "quoted" one');
  expect(await text()).toBe(
    '# HELP made_total Made.\n# TYPE made_total counter\nmade_total{code="ok"} 2\nmade_total{code="a \\"quoted\\" one"} 1\n',
  );
});

it("starts a counter without labels at 0, so that its first count is an increase", async () => {
  const { metrics, text } = start();
  const count = metrics.counter("lost_total", "Lost.", []);
  expect(await text()).toContain("\nlost_total 0\n");
  count();
  expect(await text()).toContain("\nlost_total 1\n");
});

it("counts in each bucket of a histogram all values up to its bound", async () => {
  const { metrics, text } = start();
  const note = metrics.histogram("took_seconds", "Took.", [], [0.1, 1]);
  for (const seconds of [0.1, 0.5, 1, 60]) note(seconds);
  const lines = (await text()).split("\n").filter((line) => line.startsWith("took"));
  expect(lines).toEqual([
    'took_seconds_bucket{le="0.1"} 1',
    'took_seconds_bucket{le="1"} 3',
    'took_seconds_bucket{le="+Inf"} 4',
    "took_seconds_sum 61.6",
    "took_seconds_count 4",
  ]);
});

it("leaves out gauges whose read fails, keeps the others, and reads at most once in five seconds", async () => {
  const { clock, metrics, text } = start();
  let reads = 0;
  const family = (name: string) => ({ name, help: "One.", labels: [] });
  metrics.gauges([family("first"), family("second")], async () => {
    reads += 1;
    if (reads === 2) throw new Error("the database is away");
    return [[{ labels: [], value: 0 }], [{ labels: [], value: 7 }]];
  });
  metrics.counter("made_total", "Made.", [])();
  expect(await text()).toMatch(/^first 0$.*^second 7$/ms);
  clock.ms = 4_999;
  await text();
  expect(reads).toBe(1);
  clock.ms = 5_000;
  const failed = await text();
  expect(failed).not.toMatch(/^(first|second) /m);
  expect(failed).toMatch(/^made_total 1$/m);
});
