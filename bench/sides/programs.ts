import { fileURLToPath } from "node:url";
import type { Bench } from "../run/bench.ts";
import { findFreePort } from "../stack/dev-stack.ts";
import { PRODUCT_FLAGS, type ServeProcess, serveProcess } from "./served-process.ts";

/** A program by its path from the root of this repository, with the flags of the product unless it has others. */
type Program = Omit<ServeProcess, "file" | "serves"> & { readonly path: string };

/** Starts a program that serves at the port which the variable names. */
export async function startAtPort(bench: Bench, portName: string, program: Program) {
  const port = await findFreePort();
  const env = { ...program.env, [portName]: String(port) };
  return { ...(await startProgram(bench, { ...program, env }, { port })), port };
}

/** Starts a program that serves once its port takes connections, or it has written something. */
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

/** Starts the core alone, as it runs in production. */
export function startCore(bench: Bench, name: string, env: Program["env"], profileFolder?: string) {
  const path = "server/src/main.ts";
  return startAtPort(bench, "CORE_PORT", { name, path, env, profileFolder });
}
