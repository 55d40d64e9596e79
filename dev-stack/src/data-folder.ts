import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FLAVOUR_NAMES, type ServerFlavour } from "./server-program.ts";
import { hasSystemCode, StackError, stackErrorFromFile } from "./stack-error.ts";

/** What the file that marks a data folder as ours says about it. */
export interface DataMarker {
  product: typeof PRODUCT;
  format: 1;
  /** A folder that was never finished holds nothing of value and is made anew. */
  state: "creating" | "ready";
  flavour: ServerFlavour;
  version: string;
  /** The port of the last run, taken again when it is free. */
  port?: number | undefined;
}

const PRODUCT = "personal-activity-database";
const MARKER_FILE = "personal-activity.json";
/** What a first start killed at its very beginning leaves. */
const HARMLESS_FILES = new Set(["lock", `${MARKER_FILE}.new`]);

/** Names the files in a data folder. */
export function dataFolderPaths(dataDir: string) {
  return {
    data: join(dataDir, "data"),
    credentials: join(dataDir, "credentials.json"),
    lock: join(dataDir, "lock"),
    log: join(dataDir, "server.log"),
    running: join(dataDir, "running.json"),
    pidFile: join(dataDir, "server.pid"),
    initFile: join(dataDir, "init.sql"),
  } as const;
}

/**
 * Creates the folder if it is not there and reads its marker; `undefined` means it is empty.
 * Throws when the folder holds something that is not ours.
 */
export async function openDataFolder(dataDir: string): Promise<DataMarker | undefined> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    const names = await readdir(dataDir);
    if (names.includes(MARKER_FILE)) return await readMarker(dataDir);
    if (names.every((name) => HARMLESS_FILES.has(name))) return undefined;
  } catch (error) {
    throw stackErrorFromFile(error, dataDir);
  }
  throw new StackError(
    `${dataDir} holds files that were not put there by this program: name an empty or new folder for the database.`,
  );
}

/** Writes the marker, whole or not at all. */
export async function writeMarker(
  dataDir: string,
  marker: Omit<DataMarker, "product" | "format">,
): Promise<void> {
  const path = join(dataDir, MARKER_FILE);
  const whole: DataMarker = { product: PRODUCT, format: 1, ...marker };
  await writeFile(`${path}.new`, `${JSON.stringify(whole, undefined, 2)}\n`);
  await rename(`${path}.new`, path);
}

/** Throws when the data was written by a server that this one cannot follow. */
export function checkDataMarker(
  dataDir: string,
  marker: DataMarker,
  server: { flavour: ServerFlavour; version: string },
): void {
  const isSame = marker.flavour === server.flavour;
  if (isSame && compareVersions(marker.version, server.version) <= 0) return;
  const written = `${FLAVOUR_NAMES[marker.flavour]} ${marker.version}`;
  const found = `${FLAVOUR_NAMES[server.flavour]} ${server.version}`;
  throw new StackError(
    `${dataDir} was written by ${written}, and the server here is ${found}: set MYSQLD to the program of ${written} or a newer ${FLAVOUR_NAMES[marker.flavour]}, or name another data folder.`,
  );
}

async function readMarker(dataDir: string): Promise<DataMarker> {
  const path = join(dataDir, MARKER_FILE);
  const marker = parseMarker(await readFile(path, "utf8"));
  if (marker === undefined) {
    throw new StackError(
      `${path} cannot be understood, so the folder may be from a newer version of this program: run that version, or name another data folder.`,
    );
  }
  if (marker.state === "ready") await checkDataIsThere(dataDir);
  return marker;
}

async function checkDataIsThere(dataDir: string): Promise<void> {
  const { data } = dataFolderPaths(dataDir);
  try {
    await readdir(data);
  } catch (error) {
    if (!hasSystemCode(error, "ENOENT")) throw stackErrorFromFile(error, data);
    throw new StackError(
      `${data} is missing although ${dataDir} was in use before: put it back, or remove ${dataDir} to begin with an empty database.`,
    );
  }
}

function parseMarker(text: string): DataMarker | undefined {
  try {
    const marker: Partial<DataMarker> = JSON.parse(text);
    const isOurs = marker.product === PRODUCT && marker.format === 1;
    const isWhole = typeof marker.version === "string" && (marker.flavour ?? "") in FLAVOUR_NAMES;
    return isOurs && isWhole ? (marker as DataMarker) : undefined; // its fields were just checked
  } catch {
    return undefined;
  }
}

/** Compares the first two numbers: patch releases of one series read each other's data. */
function compareVersions(one: string, other: string): number {
  const [first, second] = [one, other].map((text) => text.split(".").map(Number));
  const difference = (index: number) => (first?.[index] ?? 0) - (second?.[index] ?? 0);
  return difference(0) || difference(1);
}
