import type { Bench } from "../run/bench.ts";
import { findFreePort } from "../stack/dev-stack.ts";
import { fileOf, PRODUCT_FLAGS, type ServedProcess, serveProcess } from "./served-process.ts";

/** A core in a process of its own. */
export type CoreProcess = ServedProcess & { readonly port: number };

/** Starts the core alone, as it runs in production; it ends with the bench, if not before. */
export async function startCore(
  { closeLater }: Bench,
  name: string,
  env: Readonly<Record<string, string>>,
): Promise<CoreProcess> {
  const port = await findFreePort();
  const served = await serveProcess({
    ...{ name, file: fileOf("server/src/main.ts"), flags: PRODUCT_FLAGS, serves: { port } },
    env: { ...env, CORE_PORT: String(port) },
  });
  closeLater(served.stop);
  return { ...served, port };
}
