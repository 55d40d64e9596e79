/** What is written in one measurement, and how fast. */
export type WriteCase = {
  readonly name: string;
  readonly writers: number;
  /** Whether all write to one account, or to many in turn. */
  readonly to: "one" | "many";
  /** Writes begun a second; `undefined`: as many as are answered. */
  readonly perSecond: number | undefined;
};

/** The writers whose goals are named. */
export const MANY_WRITERS = 64;
const WRITERS = [1, 8, MANY_WRITERS];
const STEADY_PER_SECOND = 20;
/** Enough that no call has to wait for a writer. */
const STEADY_WRITERS = 16;

const closedLoops = (to: WriteCase["to"]): WriteCase[] =>
  WRITERS.map((writers) => ({ name: `${writers}-${to}`, writers, to, perSecond: undefined }));

/** All cases, in the order of a round. */
export const WRITE_CASES: readonly WriteCase[] = [
  ...closedLoops("one"),
  ...closedLoops("many"),
  { name: "steady", writers: STEADY_WRITERS, to: "one", perSecond: STEADY_PER_SECOND },
];

/** Says a case in words. */
export function labelOf({ writers, to, perSecond }: WriteCase, accounts: number): string {
  if (perSecond !== undefined) return `${perSecond} a second`;
  const who = writers === 1 ? "1 writer" : `${writers} writers`;
  return `${who}, ${to === "one" ? "1 account" : `${accounts.toLocaleString("en")} accounts`}`;
}
