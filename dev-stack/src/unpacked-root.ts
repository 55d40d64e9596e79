import { globSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { StackError } from "./stack-error.ts";

/** A folder of unpacked packages with every library, including the C library. */
export interface UnpackedRoot {
  folder: string;
  /** The loader of the folder's C library. The machine's own loader may be older. */
  loader: string;
  libraryFolders: readonly string[];
}

/** A program and the arguments before its own. */
export interface Launch {
  command: string;
  leading: readonly string[];
  /** The folder of a downloaded program. */
  root?: UnpackedRoot;
}

/** The folders of libraries. MySQL and Chromium's sound library have theirs one folder deeper. */
const LIBRARIES = "{usr/lib,lib}/*-linux-gnu*{,/mysql,/pulseaudio}";
const LOADER = "{usr/lib,lib}/*-linux-gnu*/ld-linux*.so.[0-9]";

/** Finds loader and libraries in an unpacked root. */
export function openUnpackedRoot(folder: string): UnpackedRoot {
  const find = (pattern: string) =>
    globSync(pattern, { cwd: folder }).map((path) => join(folder, path));
  const [loader] = find(LOADER);
  if (loader !== undefined) return { folder, loader, libraryFolders: find(LIBRARIES) };
  throw new StackError(`${folder} has no loader for this machine: remove it and start again.`);
}

/** Returns how to run a program of an unpacked root with that root's loader and libraries. */
export function launchFromRoot(root: UnpackedRoot, program: string, loader = root.loader): Launch {
  const libraries = ["--inhibit-cache", "--library-path", root.libraryFolders.join(":")];
  return { command: loader, leading: [...libraries, join(root.folder, program)], root };
}

/** Writes a shell script that runs a program with its leading arguments. Returns its path. */
export async function writeLauncher(
  path: string,
  { command, leading }: Launch,
  before: readonly string[] = [],
): Promise<string> {
  const words = [command, ...leading].map(shellQuote).join(" ");
  const fresh = `${path}.${process.pid}`;
  const text = ["#!/bin/sh", ...before, `exec ${words} "$@"`, ""].join("\n");
  await writeFile(fresh, text, { mode: 0o755 });
  await rename(fresh, path);
  return path;
}

/** Quotes a text as one word of the shell. */
export function shellQuote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
