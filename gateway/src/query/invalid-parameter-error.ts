/** A query that breaks a rule of §4.2. The message names parameters and rules, and repeats no value. */
export class InvalidParameterError extends Error {
  override readonly name = "InvalidParameterError";
}
