import type { Metrics } from "@activity/runtime/metrics";

/** How a pool is used: busy and idle connections, and callers that wait for one. */
export type PoolUse = { readonly busy: number; readonly idle: number; readonly waiting: number };

type Counted = { readonly length: number };
/** Private fields of the driver. If an upgrade renames them, test/operating/metrics.test.ts fails. */
type DriverPool = {
  readonly _allConnections: Counted;
  readonly _freeConnections: Counted;
  readonly _connectionQueue: Counted;
};

/** Counts the connections of a driver's pool. */
export function poolUse(pool: object): PoolUse {
  const { _allConnections, _freeConnections, _connectionQueue } = pool as DriverPool;
  const idle = _freeConnections.length;
  return { busy: _allConnections.length - idle, idle, waiting: _connectionQueue.length };
}

/** Measures pools by their names. Several pools may share a name. */
export function measurePools(
  metrics: Metrics,
  pools: Readonly<Record<string, () => readonly PoolUse[]>>,
): void {
  const families = [
    {
      name: "activity_database_connections",
      help: "Open connections to the database.",
      labels: ["pool", "state"],
    },
    {
      name: "activity_database_waiting",
      help: "Callers that wait for a connection.",
      labels: ["pool"],
    },
  ];
  metrics.gauges(families, () => {
    const uses = Object.entries(pools).map(([name, use]) => [name, sumOf(use())] as const);
    return [
      uses.flatMap(([name, { busy, idle }]) => [
        { labels: [name, "busy"], value: busy },
        { labels: [name, "idle"], value: idle },
      ]),
      uses.map(([name, { waiting }]) => ({ labels: [name], value: waiting })),
    ];
  });
}

function sumOf(uses: readonly PoolUse[]): PoolUse {
  const sum = (of: (use: PoolUse) => number) => uses.reduce((before, use) => before + of(use), 0);
  return {
    busy: sum(({ busy }) => busy),
    idle: sum(({ idle }) => idle),
    waiting: sum(({ waiting }) => waiting),
  };
}
