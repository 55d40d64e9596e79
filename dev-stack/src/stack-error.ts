/** A failure whose message is for people. The caller prints it and exits with 1. */
export class StackError extends Error {
  override readonly name = "StackError";
}

/** Advice for a program that the system refuses to execute. */
export const NOEXEC_ADVICE =
  "if its disk is mounted noexec, set XDG_CACHE_HOME to a folder on another disk";

const SENTENCES = new Map([
  ["ENOSPC", "the disk that holds it is full; free some space and start again"],
  ["EDQUOT", "the disk quota is used up; free some space and start again"],
  ["EACCES", "this user may not use it; change its owner, or name another folder"],
  ["EPERM", "this user may not use it; change its owner, or name another folder"],
  ["EROFS", "it lies on a read-only file system; name a folder that can be written to"],
  ["ENOTDIR", "a part of that path is a file; name another folder"],
  ["ENOENT", "it is not there and cannot be created; name another folder"],
  ["EEXIST", "a file of that name stands in the way; name another folder"],
]);

/** Tells whether an error carries one of the operating system's codes, such as `ENOENT`. */
export function hasSystemCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}

/** Makes a {@link StackError} of a failure with the file or folder at `path`. */
export function stackErrorFromFile(error: unknown, path: string): StackError {
  if (error instanceof StackError) return error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const cause = SENTENCES.get(code) ?? (error instanceof Error ? error.message : String(error));
  return new StackError(`${path} cannot be used: ${cause}.`, { cause: error });
}
