import { isIP } from "node:net";
import { type Environment, type Problem, readPort } from "./environment.ts";

/** Bucket bounds in seconds for network work, from a kept page to a timeout. */
export const DURATION_BUCKETS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
];

/** The value of one series, and its label values in the order of the family's label names. */
export type Sample = { readonly labels: readonly string[]; readonly value: number };

/** A gauge, and the names of its labels. */
export type GaugeFamily = {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
};

/** Reads gauges. Returns the samples of each family, in the families' order. */
export type ReadGauges = () =>
  | readonly (readonly Sample[])[]
  | Promise<readonly (readonly Sample[])[]>;

/**
 * Registers metrics. Names follow Prometheus, with base units. Label values come from closed sets: never an account, an
 * id, a URL or anything that a client sent. docs/operating.md lists all families.
 */
export type Metrics = {
  /** Creates a counter. Returns a function that counts one. */
  counter(name: string, help: string, labelNames: readonly string[]): (...labels: string[]) => void;
  /** Creates a histogram with upper bounds in seconds. Returns a function that notes one duration. */
  histogram(
    name: string,
    help: string,
    labelNames: readonly string[],
    buckets?: readonly number[],
  ): (seconds: number, ...labels: string[]) => void;
  /** Creates gauges that are read together at a scrape. If their read fails, the scrape leaves them out. */
  gauges(families: readonly GaugeFamily[], read: ReadGauges): void;
};

const ignore = () => undefined;
/** Counts nothing. Without METRICS_PORT, a count costs a call of an empty function. */
export const NO_METRICS: Metrics = {
  counter: () => ignore,
  histogram: () => ignore,
  gauges: ignore,
};

/** Creates a gauge without labels. A scrape reads its value. */
export function createGauge(
  metrics: Metrics,
  name: string,
  help: string,
  read: () => number,
): void {
  metrics.gauges([{ name, help, labels: [] }], () => [[{ labels: [], value: read() }]]);
}

/** The highest METRICS_PORT. The next port must exist too, for Temporal's metrics. */
const HIGHEST_PORT = 65_534;

/** Where metrics are served. */
export type MetricsAddress = { readonly host: string; readonly port: number };

/** Reads METRICS_PORT and METRICS_HOST. Returns `undefined` if no port is given. Reports a wrong one. */
export function readMetricsAddress(env: Environment, problem: Problem): MetricsAddress | undefined {
  const port = readPort(env, "METRICS_PORT", problem, HIGHEST_PORT);
  const host = env.METRICS_HOST || "127.0.0.1";
  // Temporal's SDK binds this host too, and accepts only IP addresses.
  if (isIP(host) === 0)
    problem("METRICS_HOST must be an IP address, such as 127.0.0.1 or 0.0.0.0.");
  return port === undefined ? undefined : { host, port };
}
