/** A failure that ends the import. Its message tells a person what to do. */
export class ImportError extends Error {
  override readonly name = "ImportError";
}
