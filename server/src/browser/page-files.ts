import { readdir, readFile } from "node:fs/promises";
import { extname, join, sep } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

/** A file of the page, in each encoding. */
export type PageFile = {
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Readonly<Record<Encoding, Buffer>>;
};
/** Encodings by preference: a browser gets the first that it accepts. */
export const ENCODINGS = ["br", "gzip", "identity"] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** The files of the page by their paths, such as `/index.html`. */
export type PageFiles = ReadonlyMap<string, PageFile>;

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".txt": "text/plain; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
};
/** The paths of files whose names contain a hash of their content. Vite adds the hash. */
const HASHED = /^\/assets\//;
/** Quality 9, because 11 makes the page only 7 % smaller, but each start would take a second instead of 45 ms. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
const FOREVER = "public, max-age=31536000, immutable";

/**
 * Reads and compresses the files of the built page. Returns none if there is no such folder. Leaves out types that
 * pages do not load, such as source maps.
 */
export async function readPageFiles(folder: string | undefined): Promise<PageFiles> {
  const names = folder ? await readdir(folder, { recursive: true }).catch(() => []) : [];
  const files = names
    .filter((name) => extname(name) in TYPES)
    .map(async (name) => {
      const path = `/${name.split(sep).join("/")}`;
      return [path, await pageFile(path, await readFile(join(folder ?? "", name)))] as const;
    });
  return new Map(await Promise.all(files));
}

async function pageFile(path: string, identity: Buffer): Promise<PageFile> {
  return {
    headers: {
      "content-type": TYPES[extname(path)] ?? "",
      "cache-control": HASHED.test(path) ? FOREVER : "no-cache",
      vary: "accept-encoding",
    },
    bytes: {
      identity,
      br: await promisify(brotliCompress)(identity, BROTLI),
      gzip: await promisify(gzip)(identity),
    },
  };
}
