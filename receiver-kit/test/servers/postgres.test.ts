import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { afterEach, expect, it, onTestFinished, vi } from "vitest";
import { useFolder } from "../../../test/harness/use-started.ts";
import { findServerFolder, startPostgres } from "./postgres.ts";

const folder = useFolder("postgres");
afterEach(() => vi.unstubAllEnvs());

async function install(version: string, ...programs: string[]): Promise<string> {
  const bin = join(folder, version, "bin");
  await mkdir(bin, { recursive: true });
  for (const program of programs) await writeFile(join(bin, program), "");
  return bin;
}

it("takes no PostgreSQL whose server is not installed, only its client", async () => {
  await install("14", "psql", "pg_dump");
  expect(await findServerFolder(folder)).toBeUndefined();
  const bin = await install("15", "initdb", "pg_ctl");
  expect(await findServerFolder(folder)).toBe(bin);
});

it("starts a PostgreSQL of UTF-8 on a machine with an unknown locale", async () => {
  vi.stubEnv("LC_ALL", "xx_XX");
  // May download PostgreSQL first.
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  const { rows } = await client.query("SHOW server_encoding");
  expect(rows).toEqual([{ server_encoding: "UTF8" }]);
  await client.end();
}, 600_000);
