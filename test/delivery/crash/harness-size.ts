import { inject } from "vitest";

/** How much a run of the crash tests does; `vitest.config.ts` has one for each of its two forms. */
export type CrashSize = {
  /** Events of one victim's run that are all in flight when its first life begins. */
  readonly events: number;
  /** Whose they are: so few that more wait in the outbox than may be under way at their endpoints. */
  readonly accounts: number;
  /** Events that are written in each of its lives besides: calls that a dying core leaves unanswered. */
  readonly writtenPerLife: number;
  /** First attempts that are answered in each of its lives, at most. */
  readonly answeredPerLife: number;
  readonly kills: number;
  /** Whether a victim's events have all arrived before the next victim's run begins. */
  readonly settlesEach: boolean;
  /** How long the last events may take. */
  readonly settleMinutes: number;
};

declare module "vitest" {
  interface ProvidedContext {
    crashSize: CrashSize;
  }
}

/** The size of this run. */
export const SIZE: CrashSize = inject("crashSize");
