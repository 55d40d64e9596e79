/** More requests wait than can be answered in time. */
export class OverloadedError extends Error {
  override readonly name = "OverloadedError";
}
