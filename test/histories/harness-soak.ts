import { readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Product } from "./harness-product.ts";

/** The growth of a level. The test fails if `grows` is true. */
export type Flatness = {
  readonly name: string;
  readonly first: number;
  readonly last: number;
  /** The growth in an hour, as a share of the level. */
  readonly perHour: number;
  readonly grows: boolean;
};

const SAMPLE_EVERY_MS = 60_000;
/** The share of samples that must succeed. */
const MIN_TAKEN = 0.8;
const HOUR_MS = 3_600_000;
/** The wait before a sample, in which a process collects its garbage. */
const COLLECTED_MS = 1_000;
const KILOBYTES_IN_MB = 1_024;
/** A level may rise by this share of itself in an hour. */
const MOST_PER_HOUR = 0.1;
/** A slope counts only if it exceeds `MOST_PER_HOUR` by this many standard errors. */
const ERRORS = 3;
/** These tables may grow: they hold a row for each record, change, event or attempt, or for each hour. */
const KEPT = new Set([
  ...["activity", "donation", "donation_refund", "subscription", "platform_event"],
  ...["webhook_event", "delivery", "delivery_attempt", "delivery_stat"],
]);

type Sample = { readonly atMs: number; readonly values: ReadonlyMap<string, number> };

/** Samples once a minute what the processes of a product use, and how many rows each table has. */
export function startSoak(product: Product) {
  const samples: Sample[] = [];
  const beganMs = performance.now();
  const sample = async () => {
    // Leaves out a sample that fails, for example while the database restarts.
    const taken = await takeSample(product).catch(() => undefined);
    if (taken !== undefined) samples.push(taken);
  };
  let last = sample();
  const timer = setInterval(() => {
    last = last.then(sample);
  }, SAMPLE_EVERY_MS);
  return {
    /** Returns the growth of each level, by a line of least squares through its samples. */
    async stop(): Promise<Flatness[]> {
      clearInterval(timer);
      await last;
      const due = (performance.now() - beganMs) / SAMPLE_EVERY_MS;
      if (samples.length < MIN_TAKEN * due) throw new Error(`only ${samples.length} samples`);
      const names = samples.at(-1)?.values.keys() ?? [];
      return [...names].map((name) => flatnessOf(name, samples));
    },
  };
}

async function takeSample({ instances, stack }: Product): Promise<Sample> {
  const values = new Map<string, number>();
  // Makes the processes collect their garbage, so that garbage does not count as growth.
  for (const one of instances) one.signal("SIGUSR2");
  await wait(COLLECTED_MS);
  for (const { name, pid } of instances) {
    const status = await readFile(`/proc/${pid()}/status`, "utf8");
    const [, kilobytes = ""] = /^VmRSS:\s+(\d+)/m.exec(status) ?? [];
    values.set(`${name}: MB`, Math.round(Number(kilobytes) / KILOBYTES_IN_MB));
    const folder = `/proc/${pid()}/fd`;
    const targets = await Promise.all(
      (await readdir(folder)).map((fd) => readlink(join(folder, fd)).catch(() => "")),
    );
    const sockets = targets.filter((target) => target.startsWith("socket:")).length;
    values.set(`${name}: connections`, sockets);
    values.set(`${name}: other descriptors`, targets.length - sockets);
  }
  const tables = await stack.database.query<Record<string, string>>("SHOW TABLES");
  for (const table of tables.flatMap(Object.values)) {
    const [row] = await stack.database.query<{ n: number }>(`SELECT COUNT(*) AS n FROM ${table}`);
    values.set(`rows of ${table}`, row?.n ?? 0);
  }
  return { atMs: performance.now(), values };
}

function flatnessOf(name: string, samples: readonly Sample[]): Flatness {
  const of = ({ values }: Sample) => values.get(name) ?? 0;
  const mean = (numbers: readonly number[]) =>
    numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
  const hours = samples.map(({ atMs }) => atMs / HOUR_MS);
  const levels = samples.map(of);
  const [hour, level] = [mean(hours), mean(levels)];
  const spread = hours.reduce((sum, one) => sum + (one - hour) ** 2, 0);
  const slope =
    hours.reduce((sum, one, at) => sum + (one - hour) * ((levels[at] ?? 0) - level), 0) / spread;
  const rest = levels.reduce(
    (sum, one, at) => sum + (one - level - slope * ((hours[at] ?? 0) - hour)) ** 2,
    0,
  );
  const error = Math.sqrt(rest / Math.max(1, samples.length - 2) / spread);
  return {
    ...{ name, first: levels[0] ?? 0, last: levels.at(-1) ?? 0, perHour: level && slope / level },
    grows:
      !KEPT.has(name.replace("rows of ", "")) && slope - ERRORS * error > MOST_PER_HOUR * level,
  };
}
