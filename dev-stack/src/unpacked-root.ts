import { readdir } from "node:fs/promises";
import { join } from "node:path";

/** A folder into which packages were unpacked, with every library down to the C library. */
export interface UnpackedRoot {
  folder: string;
  /** The loader that came with the C library: the machine's own may be older. */
  loader: string;
  libraryFolders: readonly string[];
}

/** A program and the arguments it needs before its own. */
export interface Launch {
  command: string;
  leading: readonly string[];
}

/** Where MySQL, and the sound that Chromium is linked with, keep libraries of their own, one folder further down. */
const OWN = ["mysql", "pulseaudio"];
const LOADER = /^ld-linux[\w.-]*\.so\.\d+$/;

/** Finds loader and libraries in an unpacked root; `undefined` when it is not there or not whole. */
export async function openUnpackedRoot(folder: string): Promise<UnpackedRoot | undefined> {
  const libraryFolders: string[] = [];
  let loader: string | undefined;
  for (const parent of [join(folder, "usr/lib"), join(folder, "lib")]) {
    for (const name of await listFolder(parent)) {
      if (!name.includes("-linux-gnu")) continue;
      libraryFolders.push(join(parent, name));
      const found = (await listFolder(join(parent, name))).find((file) => LOADER.test(file));
      if (found) loader ??= join(parent, name, found);
    }
  }
  const all = libraryFolders.flatMap((path) => [path, ...OWN.map((name) => join(path, name))]);
  return loader === undefined ? undefined : { folder, loader, libraryFolders: all };
}

/** Returns how to run a program of an unpacked root with the root's own loader and libraries. */
export function launchFromRoot(root: UnpackedRoot, program: string): Launch {
  return {
    command: root.loader,
    leading: [
      "--inhibit-cache",
      "--library-path",
      root.libraryFolders.join(":"),
      join(root.folder, program),
    ],
  };
}

async function listFolder(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch {
    return [];
  }
}
