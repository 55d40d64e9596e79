import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { createConnection, type RowDataPacket } from "mysql2/promise";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningDatabase, type StartDatabase, startDatabase } from "./database.ts";
import { findFreePort, LOOPBACK } from "./free-port.ts";
import { isRunning } from "./processes.ts";
import { silentProgress } from "./progress.ts";

const { DATABASE_URL: _given, ...env } = process.env;

let folder: string;
let dataDir: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "database-test-"));
  // Longer than a socket's path may be.
  dataDir = join(folder, "long".repeat(30));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

function start(options: Partial<StartDatabase> = {}): Promise<RunningDatabase> {
  return startDatabase({ env, dataDir, progress: silentProgress, ephemeral: true, ...options });
}

describe("a database started here", () => {
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

  it("keeps its data when the program that started it is killed", async () => {
    const script = join(import.meta.dirname, "start-for-test.ts");
    const program = spawn(process.execPath, [script, dataDir], {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [url] = await once(program.stdout.setEncoding("utf8"), "data");
    await query(url.trim(), "INSERT INTO kept VALUES (2)");
    program.kill("SIGKILL");
    const { pid } = JSON.parse(await readFile(join(dataDir, "running.json"), "utf8"));
    await expect.poll(() => isRunning(pid)).toBe(false);
    const database = await start();
    expect(await query(database.url, "SELECT id FROM kept")).toHaveLength(2);
    await database.stop();
  });

  it("works in UTC, strictly, in utf8mb4, for connections to loopback only", async () => {
    const database = await start();
    const [row] = await query(
      database.url,
      "SELECT @@time_zone AS zone, @@global.sql_mode AS mode, @@character_set_database AS charset, @@bind_address AS address",
    );
    expect(row).toMatchObject({ zone: "+00:00", charset: "utf8mb4", address: LOOPBACK });
    expect(row?.mode).toContain("STRICT_TRANS_TABLES");
    await database.stop();
  });

  it("refuses a second start while it runs, and leaves nothing behind when stopped", async () => {
    const database = await start();
    await expect(start()).rejects.toThrow(/is in use by another copy of this program/);
    await database.stop();
    expect(await isRunning(database.pid ?? 0)).toBe(false);
    const left = await readdir(dataDir);
    expect(left.toSorted()).toEqual([
      "credentials.json",
      "data",
      "init.sql",
      "lock",
      "personal-activity.json",
      "running.json",
      "server.log",
    ]);
  });

  it("says in one sentence that its port is taken or an option is wrong", async () => {
    const port = await findFreePort();
    const other = createServer().listen(port, LOOPBACK);
    await once(other, "listening");
    await expect(start({ port })).rejects.toThrow(
      new RegExp(`^Port ${port}, wanted for \\w+, is taken`),
    );
    other.close();
    await expect(start({ serverOptions: ["--no-such-option=1"] })).rejects.toThrow(
      /did not start: it does not know the option .*no-such-option=1/,
    );
  });

  it("refuses data of a newer server", async () => {
    const marker = join(dataDir, "personal-activity.json");
    const text = await readFile(marker, "utf8");
    await writeFile(marker, text.replace(/"version": "\d+/, '"version": "99'));
    await expect(start()).rejects.toThrow(/was written by \w+ 99\..*set MYSQLD to/);
    await writeFile(marker, text);
  });
});

describe("a folder or URL that is not right", () => {
  it("leaves another's folder alone", async () => {
    const foreign = await mkdtemp(join(folder, "foreign-"));
    await writeFile(join(foreign, "ibdata1"), "precious");
    await expect(start({ dataDir: foreign })).rejects.toThrow(/name an empty or new folder/);
    expect(await readdir(foreign)).toEqual(["ibdata1"]);
  });

  it("says in one sentence what is wrong with DATABASE_URL", async () => {
    const port = await findFreePort();
    const use = (url: string) => start({ env: { ...env, DATABASE_URL: url } });
    await expect(use("postgres://h/d")).rejects.toThrow(/must look like mysql:/);
    await expect(use(`mysql://u:p@${LOOPBACK}:${port}/d`)).rejects.toThrow(/no database answers/);
    const web = createServer((socket) => socket.end("HTTP/1.1 400 No\r\n\r\n"));
    await once(web.listen(port, LOOPBACK), "listening");
    await expect(use(`mysql://u:p@${LOOPBACK}:${port}/d`)).rejects.toThrow(
      /it is not MySQL or MariaDB/,
    );
    web.close();
  });

  it("uses a right DATABASE_URL and does not stop its server", async () => {
    const database = await start();
    const given = await start({ env: { ...env, DATABASE_URL: database.url } });
    expect(given).toMatchObject({ url: database.url, flavour: "given", pid: undefined });
    await given.stop();
    await wait(50);
    expect(await query(given.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
    await database.stop();
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
