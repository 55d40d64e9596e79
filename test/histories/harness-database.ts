import { globSync } from "node:fs";
import { mkdir, rename, rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fetchAptPackages } from "../../dev-stack/src/apt-packages.ts";
import { startDatabase } from "../../dev-stack/src/database.ts";
import { createProgress } from "../../dev-stack/src/progress.ts";
import { runCommand } from "../../dev-stack/src/run-command.ts";
import { connectTo } from "../harness/database.ts";

/** The size of the disk. It holds the logs and tables of an hour. */
const DISK = "size=1200m";
/** Caches that fill would count as growth: the pool is filled at each start, and no ended thread is kept. */
const CACHES = ["--innodb-buffer-pool-size=32M", "--thread-cache-size=0"];
/** 2 to this power rows of 8,000 bytes: twice the pool. */
const DOUBLINGS = 13;
const MEGABYTE = 1_048_576;
/** As `npm start` and the image have it. Without it each new thread's arena counts as growth. */
export const ARENAS = { MALLOC_ARENA_MAX: "2" };
const FAKETIME = {
  ...{ title: "libfaketime", names: ["libfaketime"], folder: "faketime", megabytes: 200 },
  otherwise: "these tests step the clock of a database",
};

/** Starts a database with a clock that can step and a disk that can be full. Each commit writes to a binary log. */
export async function startBadDatabase(folder: string) {
  const there = { env: process.env, progress: createProgress() };
  const clock = join(folder, "clock");
  await step(clock, 0);
  const { folder: faketime } = await fetchAptPackages(FAKETIME, there);
  const [library = ""] = globSync("usr/lib/*/faketime/libfaketimeMT.so.1", { cwd: faketime });
  const disk = join(folder, "disk");
  await mkdir(disk);
  await run("mount", "-t", "tmpfs", "-o", DISK, "tmpfs", disk);
  const start = () =>
    startDatabase({
      ...{ ...there, dataDir: join(disk, "database"), ephemeral: true },
      env: {
        ...process.env,
        ...ARENAS,
        ...{ LD_PRELOAD: join(faketime, library), FAKETIME_TIMESTAMP_FILE: clock },
        // The server reads the file each second. Steps do not change the monotonic clock, which measures waits.
        ...{ FAKETIME_CACHE_DURATION: "0", FAKETIME_DONT_FAKE_MONOTONIC: "1" },
      },
      serverOptions: ["--log-bin=binlog", "--server-id=1", "--binlog-format=ROW", ...CACHES],
    });
  let server = await start();
  await fillPool(server.url);
  // The server that wrote so much would never be as small again.
  await server.stop();
  server = await start();
  await fillPool(server.url);
  let killed = Promise.resolve();
  const filler = join(disk, "filler");
  const free = () => rm(filler, { force: true });
  return {
    url: server.url,
    pid: () => server.pid,
    signal(signal: NodeJS.Signals): void {
      if (signal === "SIGKILL") killed = server.kill();
      else process.kill(server.pid ?? 0, signal);
    },
    /** Starts it again with its data. */
    async start(): Promise<void> {
      await killed;
      server = await start();
      await fillPool(server.url);
    },
    /** Sets how many seconds its clock is ahead. A running server follows within a second. */
    stepTo: (seconds: number) => step(clock, seconds),
    /** Fills its disk. */
    async fill(): Promise<void> {
      const { bavail, bsize } = await statfs(disk);
      const space = Math.ceil((bavail * bsize) / MEGABYTE);
      // The command fails when the disk is full.
      await runCommand("dd", ["if=/dev/zero", `of=${filler}`, "bs=1M", `count=${space + 1}`]);
    },
    free,
    async stop(): Promise<void> {
      await free();
      await server.kill();
      await run("umount", disk);
    },
  };
}

/** Reads more than the pool holds. */
async function fillPool(url: string): Promise<void> {
  const pool = connectTo(url);
  await pool.query("SET SESSION sql_log_bin = 0");
  await pool.query("CREATE DATABASE IF NOT EXISTS filler");
  await pool.query(
    "CREATE TABLE IF NOT EXISTS filler.page (pad VARCHAR(8000)) CHARACTER SET latin1",
  );
  const [rows] = await pool.query("SELECT COUNT(*) AS n FROM filler.page WHERE pad <> ''");
  if ((rows as { n: number }[])[0]?.n === 0) {
    await pool.query("INSERT INTO filler.page VALUES (REPEAT('x', 8000))");
    for (let doubling = 0; doubling < DOUBLINGS; doubling++) {
      await pool.query("INSERT INTO filler.page SELECT pad FROM filler.page");
    }
  }
  await pool.end();
}

/** Replaces the file, because the server can read it at any moment. */
async function step(clock: string, seconds: number): Promise<void> {
  await writeFile(`${clock}.new`, `${seconds < 0 ? "" : "+"}${seconds}s\n`);
  await rename(`${clock}.new`, clock);
}

async function run(command: string, ...args: string[]): Promise<void> {
  const { status, lines } = await runCommand(command, args);
  if (status !== 0) throw new Error(`${command} of a disk needs root: ${lines.join("; ")}`);
}
