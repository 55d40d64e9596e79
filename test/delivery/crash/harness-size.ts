import { inject } from "vitest";

/** How much a run of the crash tests does; `vitest.config.ts` has one for each of its two forms. */
export type CrashSize = {
  /** The kills while first attempts are made under their leases. */
  readonly retries: KillsSize;
  /** The kills while every run is a workflow from its first attempt on. */
  readonly all: KillsSize;
  /** The kills amid writes. */
  readonly writes: WritesSize;
  /** Events of each of the other tests. */
  readonly events: number;
  /** How long the database can only be read: longer than a lease. */
  readonly readOnlySeconds: number;
  readonly temporalAwaySeconds: number;
  /** How long the last events may take. */
  readonly settleMinutes: number;
};

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

/** How often the core and the database are killed amid writes. */
export type WritesSize = {
  /** Of each of the two. */
  readonly kills: number;
  /** Calls that are answered between two kills, at most. */
  readonly answeredPerLife: number;
};

declare module "vitest" {
  interface ProvidedContext {
    crashSize: CrashSize;
  }
}

/** The size of this run. */
export const SIZE: CrashSize = inject("crashSize");
