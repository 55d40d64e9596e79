import { fileURLToPath } from "node:url";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { PRODUCT_FLAGS, type ServedProcess, serveProcess } from "../sides/served-process.ts";

/** A core in a process of its own. */
export type CoreProcess = ServedProcess & { readonly port: number };

const FILE = fileURLToPath(new URL("../../server/src/main.ts", import.meta.url));

/** Starts the core alone, as it runs in production. */
export async function startCoreProcess(
  name: string,
  env: Readonly<Record<string, string>>,
): Promise<CoreProcess> {
  const port = await findFreePort();
  const served = await serveProcess({
    name,
    file: FILE,
    flags: PRODUCT_FLAGS,
    serves: { port },
    env: { ...env, CORE_PORT: String(port) },
    profileFolder: undefined,
  });
  return { ...served, port };
}
