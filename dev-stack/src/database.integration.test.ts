import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { createConnection, type RowDataPacket } from "mysql2/promise";
import { describe, expect, inject, it } from "vitest";
import { listenLocally } from "../../test/harness/listening.ts";
import { useFolder } from "../../test/harness/use-started.ts";
import { type RunningDatabase, type StartDatabase, startDatabase } from "./database.ts";
import { LOOPBACK } from "./free-port.ts";
import { isRunning } from "./processes.ts";
import { silentProgress } from "./progress.ts";

const { DATABASE_URL: _given, DATABASE_URL_FILE: _named, ...env } = process.env;
const START = `import { startDatabase } from "${import.meta.dirname}/database.ts";
  const progress = { step: (_, run) => run(() => {}) };
  await startDatabase({ env: process.env, dataDir: process.argv[1], progress, ephemeral: true });
  console.log("started");
  setInterval(() => {}, 60_000);`;

const folder = useFolder("database");
/** A folder whose path is longer than a socket's path may be. */
const dataDir = join(folder, "long".repeat(30));

function start(options: Partial<StartDatabase> = {}): Promise<RunningDatabase> {
  return startDatabase({ env, dataDir, progress: silentProgress, ephemeral: true, ...options });
}

describe("a database started here", () => {
  /** Runs from the second test to the fourth. */
  let database: RunningDatabase;

  it("keeps its data, port and password when the server is killed", async () => {
    const first = await start();
    await query(first.url, "CREATE TABLE kept (id INT PRIMARY KEY)");
    await query(first.url, "INSERT INTO kept VALUES (1)");
    await first.kill();
    const second = await start();
    expect(second.url).toBe(first.url);
    expect(await query(second.url, "SELECT id FROM kept")).toEqual([{ id: 1 }]);
    await second.stop();
  });

  it("ends, and keeps its data, when the program that started it is killed", async () => {
    const args = ["--input-type=module", "-e", START, dataDir];
    const program = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "inherit"] });
    await once(program.stdout, "data");
    program.kill("SIGKILL");
    const { pid } = JSON.parse(await readFile(join(dataDir, "running.json"), "utf8"));
    await expect.poll(() => isRunning(pid)).toBe(false);
    database = await start();
    expect(await query(database.url, "SELECT id FROM kept")).toHaveLength(1);
  });

  it("works in UTC, strictly, in utf8mb4, for connections to loopback only", async () => {
    const [row] = await query(
      database.url,
      "SELECT @@time_zone AS zone, @@global.sql_mode AS mode, @@character_set_database AS charset, @@bind_address AS address",
    );
    expect(row).toMatchObject({ zone: "+00:00", charset: "utf8mb4", address: LOOPBACK });
    expect(row?.mode).toContain("STRICT_TRANS_TABLES");
  });

  it("refuses a second start while it runs, and leaves nothing running when stopped", async () => {
    await expect(start()).rejects.toThrow(/is in use by another copy of this program/);
    await database.stop();
    expect(await isRunning(database.pid ?? 0)).toBe(false);
    expect(await readdir(dataDir)).not.toContain("server.sock");
  });

  it("says in one sentence that its port is taken or an option is wrong", async () => {
    const port = Number(new URL(inject("databaseUrl")).port);
    const taken = new RegExp(`^Port ${port}, wanted for \\w+, is taken`);
    await expect(start({ port })).rejects.toThrow(taken);
    await expect(start({ serverOptions: ["--no-such-option=1"] })).rejects.toThrow(
      /did not start: it does not know the option .*no-such-option=1/,
    );
  });

  it("refuses data of a newer server", async () => {
    const marker = join(dataDir, "personal-activity.json");
    const text = await readFile(marker, "utf8");
    await writeFile(marker, text.replace(/"version": "\d+/, '"version": "99'));
    await expect(start()).rejects.toThrow(/was written by \w+ 99\..*set MYSQLD to/);
  });
});

describe("a folder or URL that is not right", () => {
  it("leaves another's folder alone", async () => {
    const foreign = join(folder, "foreign");
    await mkdir(foreign);
    await writeFile(join(foreign, "ibdata1"), "precious");
    await expect(start({ dataDir: foreign })).rejects.toThrow(/name an empty or new folder/);
    expect(await readdir(foreign)).toEqual(["ibdata1"]);
  });

  it("says in one sentence what is wrong with DATABASE_URL, and uses one that is right", async () => {
    const use = (url: string) => start({ env: { ...env, DATABASE_URL: url } });
    await expect(use("postgres://h/d")).rejects.toThrow(/must look like mysql:/);
    const dead = `mysql://u:p@${LOOPBACK}:1/d`;
    await expect(use(dead)).rejects.toThrow(/^DATABASE_URL points at .*no database answers/);
    const DATABASE_URL_FILE = join(folder, "database-url");
    await writeFile(DATABASE_URL_FILE, dead);
    await expect(start({ env: { ...env, DATABASE_URL_FILE } })).rejects.toThrow(
      /^DATABASE_URL_FILE points at /,
    );
    const web = createServer((socket) => socket.end("HTTP/1.1 400 No\r\n\r\n"));
    const other = `mysql://u:p@${LOOPBACK}:${await listenLocally(web)}/d`;
    await expect(use(other)).rejects.toThrow(/not MySQL or MariaDB/);
    web.close();
    const url = inject("databaseUrl");
    expect(await use(url)).toMatchObject({ url, flavour: "given", pid: undefined });
  });
});

async function query(uri: string, sql: string): Promise<RowDataPacket[]> {
  const connection = await createConnection({ uri });
  try {
    const [rows] = await connection.query<RowDataPacket[]>(sql);
    return rows;
  } finally {
    await connection.end();
  }
}
