/** A failure that ends the import. Its message tells a person what to do. */
export class ImportError extends Error {
  override readonly name = "ImportError";
}

/** Returns the code of a system's error, such as ENOSPC. */
export function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
