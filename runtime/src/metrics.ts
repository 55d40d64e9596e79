import { type Environment, type Problem, readPort } from "./environment.ts";

/** Seconds of something that waits for the network, from a kept page to a time-out. */
export const DURATION_BUCKETS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
];

/** A value of one series: its label values, in the order of the family's label names. */
export type Sample = { readonly labels: readonly string[]; readonly value: number };

/** A gauge, and the names of its labels. */
export type GaugeFamily = {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
};

/** Reads gauges: the samples of each, in the order of their families. */
export type ReadGauges = () =>
  | readonly (readonly Sample[])[]
  | Promise<readonly (readonly Sample[])[]>;

/**
 * Where a part of the product says what it counts. Names are Prometheus', in base units; label values come from
 * closed sets: never an account, an id, a URL or anything that somebody sent. docs/operating.md lists all families.
 */
export type Metrics = {
  /** Creates a counter, and returns what counts one. */
  counter(name: string, help: string, labelNames: readonly string[]): (...labels: string[]) => void;
  /** Creates a histogram with upper bounds in seconds, and returns what notes one duration. */
  histogram(
    name: string,
    help: string,
    labelNames: readonly string[],
    buckets?: readonly number[],
  ): (seconds: number, ...labels: string[]) => void;
  /** Creates gauges that are read together when they are asked for; those whose read fails are left out. */
  gauges(families: readonly GaugeFamily[], read: ReadGauges): void;
};

const ignore = () => undefined;
/** Counts nothing: where METRICS_PORT is unset, counting costs a call of an empty function. */
export const NO_METRICS: Metrics = {
  counter: () => ignore,
  histogram: () => ignore,
  gauges: ignore,
};

/** The port behind it must be there too: Temporal's metrics are served on it. */
const HIGHEST_PORT = 65_534;

/** Where metrics are served. */
export type MetricsAddress = { readonly host: string; readonly port: number };

/** Reads METRICS_PORT and METRICS_HOST; `undefined` where no port is given. Tells `problem` of a wrong one. */
export function readMetricsAddress(env: Environment, problem: Problem): MetricsAddress | undefined {
  const port = readPort(env, "METRICS_PORT", problem, HIGHEST_PORT);
  return port === undefined ? undefined : { host: env.METRICS_HOST || "127.0.0.1", port };
}
