/** Seeds that once broke a rule, and the bugs that they found. `npm test` runs each of them. */
export const FAILED_ONCE: ReadonlyMap<number, string> = new Map([
  [179, "an idle dispatcher leased a burst beside its attempts in flight at the same endpoint"],
  [
    958,
    "after the database's clock stepped ahead, a retry that Temporal had forgotten came at once",
  ],
  [440, "the database's clock stepped ahead between a record and the claim of its retry"],
  [7, "another process than its maker recorded an attempt, and the retry was due too late"],
  [
    143,
    "after the database's clock was set right, a retry that Temporal had forgotten came too early",
  ],
  [201366, "a dispatcher that was cut off from the core forever kept its retries forever"],
  [3190, "two workers made one attempt, and the success that was recorded second was forgotten"],
  [
    1077,
    "a success replaced the failure of an attempt that had ended the run, which stayed failed",
  ],
  [
    3371,
    "a worker got a waiting task of a workflow that Temporal had forgotten: the simulation's own bug",
  ],
]);
