import http from "node:http";

/** One file of a project, as PyPI's index lists it (PEP 691). */
type IndexedFile = { readonly url: string; readonly hashes: { readonly sha256?: string } };

const INDEX = "https://pypi.org/simple";
const INDEX_TYPE = "application/vnd.pypi.simple.v1+json";
const ANSWER_WITHIN_MS = 60_000;
const FETCH_WITHIN_MS = 600_000;

/**
 * Downloads the wheel of a project from PyPI that is listed with this hash, through the proxy that the machine
 * is set up for. What comes is the caller's to check. Throws a plain Error that says what failed.
 */
export async function downloadWheel(project: string, sha256: string): Promise<Buffer> {
  // Missing from Node 24.0, which macOS gets: there a proxy is not used.
  const withoutProxy = http.setGlobalProxyFromEnv?.();
  try {
    const index = await get(`${INDEX}/${project}/`, INDEX_TYPE, ANSWER_WITHIN_MS);
    const { files }: { files: readonly IndexedFile[] } = JSON.parse(index.toString("utf8"));
    const file = files.find(({ hashes }) => hashes.sha256 === sha256);
    if (file === undefined) throw new Error("PyPI does not list the file that this project pins");
    return await get(new URL(file.url, INDEX).href, "*/*", FETCH_WITHIN_MS);
  } finally {
    withoutProxy?.();
  }
}

async function get(url: string, accept: string, withinMs: number): Promise<Buffer> {
  const { host } = new URL(url);
  try {
    const signal = AbortSignal.timeout(withinMs);
    const response = await fetch(url, { headers: { accept }, signal });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    return Buffer.from(await response.arrayBuffer());
  } catch (error) {
    const { message, cause } = error as Error;
    throw new Error(`${host} answered: ${cause instanceof Error ? cause.message : message}`);
  }
}
