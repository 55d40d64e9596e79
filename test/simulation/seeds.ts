/** Seeds that broke a rule once, and what they found. Each is run in `npm test`. */
export const FAILED_ONCE: ReadonlyMap<number, string> = new Map([
  [179, "an idle dispatcher was leased a burst beside what it had in flight at the endpoint"],
  [958, "the database's clock stepped ahead, and a retry that Temporal had forgotten came at once"],
  [440, "the database's clock stepped ahead between a record and the claim of its retry"],
  [7, "an attempt was recorded by another process than its maker, and its retry was due too late"],
  [143, "the database's clock was set right, and a retry that was forgotten came too early"],
  [201366, "a dispatcher that was cut off from the core for ever held its retries for ever"],
  [3190, "two workers made one attempt, and the success that was recorded second was forgotten"],
]);
