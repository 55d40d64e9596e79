/** The size of a run with kills. */
export type KillsSize = {
  /** Events that are in flight when the victim's first life begins. */
  readonly events: number;
  /** The number of their accounts. It is so small that more events wait than may be in flight at the endpoints. */
  readonly accounts: number;
  /** Further events written in each life. A dying core leaves some of these calls unanswered. */
  readonly writtenPerLife: number;
  /** The most first attempts that are answered in each life. */
  readonly answeredPerLife: number;
  readonly kills: number;
};

/**
 * The sizes of the crash tests. They test what only real processes show. The simulation tests the orders of events.
 */
export const SIZE = {
  /** `retries`: first attempts run under leases. `all`: every run is a workflow from its first attempt. */
  retries: { events: 200, accounts: 2, writtenPerLife: 40, answeredPerLife: 50, kills: 2 },
  all: { events: 60, accounts: 2, writtenPerLife: 20, answeredPerLife: 20, kills: 1 },
  /** Kills of the core and of the database each, and the most calls answered between two kills. */
  writes: { kills: 2, answeredPerLife: 400 },
  /** The limit for the last events, in minutes. A retry that times out is made again five minutes later. */
  settleMinutes: 10,
} as const satisfies Record<string, number | KillsSize | { readonly [name: string]: number }>;
