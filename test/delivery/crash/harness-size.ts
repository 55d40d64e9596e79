/**
 * The sizes of the crash tests. They test what only real processes show. The simulation tests the orders of events.
 */
export const SIZE = {
  /** First attempts run under leases. */
  retries: {
    /** Events that are in flight when the victim's first life begins. */
    events: 200,
    /** So few that more events wait than may be in flight at the endpoints. */
    accounts: 2,
    /** Further events written in each life. A dying core leaves some of these calls unanswered. */
    writtenPerLife: 40,
    /** The most first attempts that are answered in each life. */
    answeredPerLife: 50,
    kills: 2,
  },
  /** Every run is a workflow from its first attempt. */
  all: { events: 60, accounts: 2, writtenPerLife: 20, answeredPerLife: 20, kills: 1 },
  /** Kills of the core and of the database each, and the most calls answered between two kills. */
  writes: { kills: 2, answeredPerLife: 400 },
  /** The limit for the last events, in minutes. A retry that times out is made again five minutes later. */
  settleMinutes: 10,
} as const;
