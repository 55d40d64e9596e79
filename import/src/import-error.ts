/** A failure that ends the import; its message is meant for a person and says what to do. */
export class ImportError extends Error {
  override readonly name = "ImportError";
}
