import { type AptPackages, fetchAptPackages } from "./apt-packages.ts";
import { findInstalled, type GivenProgram } from "./find-program.ts";
import type { StackOptions } from "./stack-options.ts";
import { type Launch, launchFromRoot } from "./unpacked-root.ts";

/** A program and its packages. */
export interface Program extends Omit<AptPackages, "names" | "otherwise"> {
  /** The variable that may name the program, with its value. */
  given?: GivenProgram;
  /** Its names on PATH. The first found is used. */
  called: readonly string[];
  packages: readonly string[];
  /** Its path in the packages. */
  path: string;
  /** Advice to print before the advice to name or install the program. */
  advice?: string;
}

/** Finds the program that a variable names, or one on the machine. Otherwise downloads the distribution's. */
export async function findOrFetch(program: Program, options: StackOptions): Promise<Launch> {
  const { given = {}, called, packages, path, advice = "", ...rest } = program;
  const found = await findInstalled(options.env, given, called);
  if (found !== undefined) return { command: found, leading: [] };
  const [variable] = Object.keys(given);
  const names = called.join(" or ");
  const naming = variable && `set ${variable} to the path of a ${names}, or `;
  const otherwise = `${advice}${naming ?? ""}install a ${names} so that it is on PATH`;
  const root = await fetchAptPackages({ ...rest, names: packages, otherwise }, options);
  return launchFromRoot(root, path);
}
