import { fileURLToPath } from "node:url";
import type { Bench } from "../run/bench.ts";
import { findFreePort } from "../stack/dev-stack.ts";
import { PRODUCT_FLAGS, serveProcess } from "./served-process.ts";

type Program = {
  /** Names the log file and the profile. */
  readonly name: string;
  /** From the root of this repository. */
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
  readonly profileFolder?: string | undefined;
};

/** Starts a program that serves at the port which the variable names; it ends with the bench, if not before. */
export async function startAtPort(bench: Bench, portName: string, program: Program) {
  const port = await findFreePort();
  const env = { ...program.env, [portName]: String(port) };
  return { ...(await startProgram(bench, { ...program, env }, { port })), port };
}

/** Starts a program that serves once its port takes connections, or it has written something. */
export async function startProgram(
  { closeLater }: Bench,
  { path, ...program }: Program,
  serves: { readonly port: number } | { readonly whenWritten: string },
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
