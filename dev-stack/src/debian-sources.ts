import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type AptSource,
  findDebianMirror,
  parseListFile,
  parseSourcesFile,
} from "./apt-sources.ts";
import { StackError } from "./stack-error.ts";

const KEYRINGS = ["debian-archive-keyring.pgp", "debian-archive-keyring.gpg"];

/** Returns the `sources.list` line of Debian unstable on the mirror this machine uses; throws {@link StackError} when it uses none. */
export async function readUnstableSource(): Promise<string> {
  const codename = (await readOsRelease()).get("VERSION_CODENAME") ?? "";
  const mirror = findDebianMirror(await readAptSources(), codename);
  if (mirror === undefined) {
    throw new StackError(
      "This machine's apt sources name no Debian mirror to fetch MySQL from: name a MySQL server program in MYSQLD.",
    );
  }
  return `deb [signed-by=${await findKeyring()}] ${mirror} sid main\n`;
}

/** Returns the fields of the system's description of itself, such as `ID` and `VERSION_CODENAME`. */
export async function readOsRelease(): Promise<Map<string, string>> {
  const lines = (await readIfThere("/etc/os-release")).split("\n");
  return new Map(
    lines.flatMap((line) => {
      const [, name, value = ""] = /^(\w+)="?([^"]*)"?$/.exec(line) ?? [];
      return name === undefined ? [] : [[name, value] as const];
    }),
  );
}

async function readAptSources(): Promise<AptSource[]> {
  const folder = "/etc/apt/sources.list.d";
  const names = (await listFolder(folder)).toSorted();
  const sources = parseListFile(await readIfThere("/etc/apt/sources.list"));
  for (const name of names) {
    const text = await readIfThere(join(folder, name));
    if (name.endsWith(".sources")) sources.push(...parseSourcesFile(text));
    if (name.endsWith(".list")) sources.push(...parseListFile(text));
  }
  return sources;
}

async function findKeyring(): Promise<string> {
  const folder = "/usr/share/keyrings";
  const names = await listFolder(folder);
  const keyring = KEYRINGS.find((name) => names.includes(name));
  if (keyring !== undefined) return join(folder, keyring);
  throw new StackError(
    "Debian's packages cannot be checked without its keys: install debian-archive-keyring and start again.",
  );
}

async function listFolder(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

async function readIfThere(path: string): Promise<string> {
  return readFile(path, "utf8").catch(() => "");
}
