import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseObject } from "./parse-object.ts";
import { FLAVOUR_NAMES, type ServerFlavour } from "./server-program.ts";
import { StackError, stackErrorFromFile } from "./stack-error.ts";

/** The content of the file that marks a folder as ours. */
export interface DataMarker {
  /** A folder in state `creating` has nothing of value and is created again. */
  state: "creating" | "ready";
  flavour: ServerFlavour;
  version: string;
}

const PRODUCT = { product: "personal-activity-database", format: 1 } as const;
const MARKER_FILE = "personal-activity.json";
/** The files that a first start leaves if it is killed at its very beginning. */
const HARMLESS_FILES = ["lock", `${MARKER_FILE}.new`];

/** Returns the folder of the database's own files. */
export const dataIn = (dataDir: string) => join(dataDir, "data");

/**
 * Creates the folder if it is missing and reads its marker. `undefined` means that the folder has no data
 * yet. Throws if the folder has files that are not ours.
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

/** Writes the marker atomically. */
export async function writeMarker(dataDir: string, marker: DataMarker): Promise<void> {
  const path = join(dataDir, MARKER_FILE);
  const text = JSON.stringify({ ...PRODUCT, ...marker }, undefined, 2);
  await writeFile(`${path}.new`, `${text}\n`);
  await rename(`${path}.new`, path);
}

/** Throws if this server cannot read data that another server wrote. */
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

/** Combines a version's first two numbers. Patch releases of a series can read each other's data. */
function seriesOf(version: string): number {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major * 1_000 + minor;
}
