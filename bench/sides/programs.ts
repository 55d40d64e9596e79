import { fileURLToPath } from "node:url";
import type { Bench } from "../run/bench.ts";
import { findFreePort } from "../stack/dev-stack.ts";
import { PRODUCT_FLAGS, type ServeProcess, serveProcess } from "./served-process.ts";

/** The address of the load, which forwards each client's address. */
export const TRUSTED_PROXIES = "127.0.0.1/32";

/** A program by its path from the repository's root, by default with the product's flags. */
type Program = Omit<ServeProcess, "file" | "serves"> & { readonly path: string };

/** Starts a program that serves at a free port. The variable `portName` tells the program the port. */
export async function startAtPort(bench: Bench, portName: string, program: Program) {
  const port = await findFreePort();
  const env = { ...program.env, [portName]: String(port) };
  return { ...(await startProgram(bench, { ...program, env }, { port })), port };
}

/** Starts a program. Waits until its port accepts connections, or until it has written a text. */
export async function startProgram(
  { closeLater }: Bench,
  { path, ...program }: Program,
  serves: ServeProcess["serves"],
) {
  const file = fileURLToPath(new URL(`../../${path}`, import.meta.url));
  const served = await serveProcess({ flags: PRODUCT_FLAGS, ...program, file, serves });
  closeLater(served.stop);
  return served;
}

/** Starts core and gateway in one process, as `npm start` does. */
export async function startOneProcess(
  bench: Bench,
  name: string,
  more: Program["env"],
  profileFolder?: string,
) {
  const corePort = await findFreePort();
  const env = { ...more, CORE_PORT: `${corePort}`, TRUSTED_PROXIES };
  const program = { name, path: "bench/sides/one-process.mjs", profileFolder };
  return { ...(await startAtPort(bench, "GATEWAY_PORT", { ...program, env })), corePort };
}

/** Starts the core alone, as in production. */
export function startCore(bench: Bench, name: string, env: Program["env"], profileFolder?: string) {
  const path = "server/src/main.ts";
  return startAtPort(bench, "CORE_PORT", { name, path, env, profileFolder });
}
