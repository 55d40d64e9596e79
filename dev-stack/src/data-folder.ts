import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseObject } from "./parse-object.ts";
import { FLAVOUR_NAMES, type ServerFlavour } from "./server-program.ts";
import { StackError, stackErrorFromFile } from "./stack-error.ts";

/** What the file that marks a folder as ours says about it. */
export interface DataMarker {
  /** A folder that was never finished holds nothing of value and is made anew. */
  state: "creating" | "ready";
  flavour: ServerFlavour;
  version: string;
}

const PRODUCT = { product: "personal-activity-database", format: 1 } as const;
const MARKER_FILE = "personal-activity.json";
/** What a first start killed at its very beginning leaves. */
const HARMLESS_FILES = ["lock", `${MARKER_FILE}.new`];

/** Returns where a database's own files lie in its folder. */
export const dataIn = (dataDir: string) => join(dataDir, "data");

/**
 * Creates the folder if it is not there and reads its marker; `undefined` means it is empty.
 * Throws when the folder holds something that is not ours.
 */
export async function openDataFolder(dataDir: string): Promise<DataMarker | undefined> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    const names = await readdir(dataDir);
    if (names.includes(MARKER_FILE)) return await readMarker(dataDir);
    if (names.every((name) => HARMLESS_FILES.includes(name))) return undefined;
  } catch (error) {
    throw stackErrorFromFile(error, dataDir);
  }
  throw new StackError(
    `${dataDir} holds files that were not put there by this program: name an empty or new folder for the database.`,
  );
}

/** Writes the marker, whole or not at all. */
export async function writeMarker(dataDir: string, marker: DataMarker): Promise<void> {
  const path = join(dataDir, MARKER_FILE);
  const text = JSON.stringify({ ...PRODUCT, ...marker }, undefined, 2);
  await writeFile(`${path}.new`, `${text}\n`);
  await rename(`${path}.new`, path);
}

/** Throws when the data was written by a server that this one cannot follow. */
export function checkDataMarker(
  dataDir: string,
  marker: DataMarker,
  server: { flavour: ServerFlavour; version: string },
): void {
  const isSame = marker.flavour === server.flavour;
  if (isSame && seriesOf(marker.version) <= seriesOf(server.version)) return;
  const written = `${FLAVOUR_NAMES[marker.flavour]} ${marker.version}`;
  const found = `${FLAVOUR_NAMES[server.flavour]} ${server.version}`;
  throw new StackError(
    `${dataDir} was written by ${written}, and the server here is ${found}: set MYSQLD to the program of ${written} or a newer ${FLAVOUR_NAMES[marker.flavour]}, or name another data folder.`,
  );
}

async function readMarker(dataDir: string): Promise<DataMarker> {
  const path = join(dataDir, MARKER_FILE);
  const text = await readFile(path, "utf8");
  const { product, format, state, flavour, version } = parseObject<DataMarker & typeof PRODUCT>(
    text,
  );
  const isOurs = product === PRODUCT.product && format === PRODUCT.format;
  if (!isOurs || !state || !flavour || !(flavour in FLAVOUR_NAMES) || !version) {
    throw new StackError(
      `${path} cannot be understood, so the folder may be from a newer version of this program: run that version, or name another data folder.`,
    );
  }
  if (state === "ready" && !existsSync(dataIn(dataDir))) {
    throw new StackError(
      `${dataIn(dataDir)} is missing although ${dataDir} was in use before: put it back, or remove ${dataDir} to begin with an empty database.`,
    );
  }
  return { state, flavour, version };
}

/** The first two numbers as one: patch releases of one series read each other's data. */
function seriesOf(version: string): number {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major * 1_000 + minor;
}
