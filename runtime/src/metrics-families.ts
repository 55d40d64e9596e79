import type { Metric, Registry } from "prom-client";
import { DURATION_BUCKETS, type Metrics, type ReadGauges, type Sample } from "./metrics.ts";

/** Scrapes within this time share one read of the gauges. */
const FRESH_MS = 5_000;

type Kind = "counter" | "gauge" | "histogram";
/** A value as prom-client's registry writes it. */
type Value = {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
};

/**
 * Creates families in a registry of prom-client. They count without prom-client's classes, which sort and join the
 * label names at each count and cost ten times as much. `nowMs` is a monotonic clock.
 */
export function createMetrics(
  registry: Pick<Registry, "registerMetric">,
  nowMs: () => number,
): Metrics {
  function register(
    type: Kind,
    name: string,
    help: string,
    values: () => Value[] | Promise<Value[]>,
  ) {
    const get = async () => ({ name, help, type, aggregator: "sum", values: await values() });
    // The registry uses only these two members of the class.
    registry.registerMetric({ name, get } as unknown as Metric);
  }

  return {
    counter(name, help, labelNames) {
      const series = new Map<string, { readonly labels: string[]; count: number }>();
      // A series that first appears with the value 1 shows no increase. So a counter without labels begins at 0.
      if (labelNames.length === 0) series.set("", { labels: [], count: 0 });
      register("counter", name, help, () =>
        [...series.values()].map(({ labels, count }) => ({
          labels: named(labelNames, labels),
          value: count,
        })),
      );
      return (...labels) => {
        const key = labels.join("\n");
        const one = series.get(key);
        if (one === undefined) series.set(key, { labels, count: 1 });
        else one.count += 1;
      };
    },

    histogram(name, help, labelNames, buckets = DURATION_BUCKETS) {
      const series = new Map<
        string,
        { readonly labels: string[]; counts: number[]; sum: number }
      >();
      register("histogram", name, help, () =>
        [...series.values()].flatMap(({ labels, counts, sum }) =>
          histogramValues(name, named(labelNames, labels), buckets, counts, sum),
        ),
      );
      return (seconds, ...labels) => {
        const key = labels.join("\n");
        let one = series.get(key);
        if (one === undefined) {
          one = { labels, counts: new Array(buckets.length + 1).fill(0), sum: 0 };
          series.set(key, one);
        }
        let place = 0;
        while (place < buckets.length && seconds > (buckets[place] ?? 0)) place += 1;
        one.counts[place] = (one.counts[place] ?? 0) + 1;
        one.sum += seconds;
      };
    },

    gauges(families, read) {
      const readFresh = shared(read, nowMs);
      for (const [place, { name, help, labels: names }] of families.entries()) {
        register("gauge", name, help, async () => {
          const samples = (await readFresh())[place] ?? [];
          return samples.map(({ labels, value }) => ({ labels: named(names, labels), value }));
        });
      }
    },
  };
}

/** Shares one read for `FRESH_MS`. A failed read gives no samples until the next one. */
function shared(
  read: ReadGauges,
  nowMs: () => number,
): () => Promise<readonly (readonly Sample[])[]> {
  let last:
    | undefined
    | { readonly atMs: number; readonly answer: Promise<readonly (readonly Sample[])[]> };
  return () => {
    if (last === undefined || nowMs() - last.atMs >= FRESH_MS) {
      const answer = Promise.resolve()
        .then(read)
        .catch(() => []);
      last = { atMs: nowMs(), answer };
    }
    return last.answer;
  };
}

function named(names: readonly string[], labels: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name, place) => [name, labels[place] ?? ""]));
}

/** Returns a histogram's values for Prometheus. The count of each bound includes all smaller ones. */
function histogramValues(
  name: string,
  labels: Readonly<Record<string, string>>,
  buckets: readonly number[],
  counts: readonly number[],
  sum: number,
): Value[] {
  let count = 0;
  const values: Value[] = [...buckets, "+Inf"].map((le, place) => {
    count += counts[place] ?? 0;
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count };
  });
  values.push({ metricName: `${name}_sum`, labels, value: sum });
  values.push({ metricName: `${name}_count`, labels, value: count });
  return values;
}
