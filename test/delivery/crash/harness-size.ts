/** How much is killed, and amid what. */
export type KillsSize = {
  /** Events of one victim that are all in flight when its first life begins. */
  readonly events: number;
  /** Whose they are: so few that more wait in the outbox than may be in flight at their endpoints. */
  readonly accounts: number;
  /** Events that are written in each of its lives besides: calls that a dying core leaves unanswered. */
  readonly writtenPerLife: number;
  /** First attempts that are answered in each of its lives, at most. */
  readonly answeredPerLife: number;
  readonly kills: number;
};

/** How much the crash tests do: what only real processes show. The simulation has the orders of events. */
export const SIZE = {
  /** While first attempts are made under their leases, and while every run is a workflow from its first attempt on. */
  retries: { events: 200, accounts: 2, writtenPerLife: 40, answeredPerLife: 50, kills: 2 },
  all: { events: 60, accounts: 2, writtenPerLife: 20, answeredPerLife: 20, kills: 1 },
  /** Amid writes: kills of the core and of the database each, and the calls between two of them, at most. */
  writes: { kills: 2, answeredPerLife: 400 },
  /** How long the last events may take: a retry that times out is made again five minutes later. */
  settleMinutes: 10,
} as const satisfies Record<string, number | KillsSize | { readonly [name: string]: number }>;
