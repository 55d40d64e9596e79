import { resolve } from "node:path";
import { measure, type Size } from "../../receiver-kit/scripts/core-size.ts";

const INDEX = resolve(import.meta.dirname, "../src/index.ts");

/** Measures the package's main entry. */
export function measureClient(): Promise<Size> {
  return measure(`export * from ${JSON.stringify(INDEX)};`, []);
}
