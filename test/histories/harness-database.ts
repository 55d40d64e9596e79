import { mkdir, rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startDatabase } from "../../dev-stack/src/database.ts";
import { createProgress } from "../../dev-stack/src/progress.ts";
import { runCommand } from "../../dev-stack/src/run-command.ts";
import { fetchRealMysql } from "../../dev-stack/src/server-program.ts";
import { connectTo } from "../harness/database.ts";

/** The size of the disk. It holds the logs and tables of an hour. */
const DISK = "size=1200m";
/** A cache that fills slowly would count as growth. So each start fills the pool, and ended threads are not cached. */
const CACHES = ["--innodb-buffer-pool-size=32M", "--thread-cache-size=0"];
/** 2^13 rows of 8,000 bytes are twice the size of the pool. */
const DOUBLINGS = 13;
const MEGABYTE = 1_048_576;
/** As in `npm start` and in the image. Without it, the memory arena of each new thread would count as growth. */
export const ARENAS = { MALLOC_ARENA_MAX: "2" };
const CLOCK_SOURCE = fileURLToPath(new URL("clock/wrong-clock.c", import.meta.url));

/**
 * Starts MySQL with a clock that can step and a disk that can be full. Each commit writes to a binary log. MariaDB
 * cannot be used: after a step back its thread pool adds no thread until the clock is where it was, and InnoDB hangs.
 */
export async function startBadDatabase(folder: string) {
  const there = { env: process.env, progress: createProgress() };
  const [clock, library] = [join(folder, "clock"), join(folder, "clock.so")];
  await writeFile(clock, secondsAhead(0));
  await run("cc", "-O2", "-shared", "-fPIC", "-o", library, CLOCK_SOURCE);
  const MYSQLD = await fetchRealMysql(there);
  const disk = join(folder, "disk");
  await mkdir(disk);
  await run("mount", "-t", "tmpfs", "-o", DISK, "tmpfs", disk);
  const start = () =>
    startDatabase({
      ...{ ...there, dataDir: join(disk, "database"), ephemeral: true },
      env: {
        ...process.env,
        ...{ ...ARENAS, MYSQLD, LD_PRELOAD: library, WRONG_CLOCK: clock },
      },
      serverOptions: ["--log-bin=binlog", "--server-id=1", "--binlog-format=ROW", ...CACHES],
    });
  let server = await start();
  await fillPool(server.url);
  // Restarts the server, because one that wrote so much would never be as small again.
  await server.stop();
  server = await start();
  await fillPool(server.url);
  let killed = Promise.resolve();
  const filler = join(disk, "filler");
  const free = () => rm(filler, { force: true });
  return {
    ...{ name: "database", url: server.url },
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
    /** Sets how many seconds its clock is ahead. The server maps the file into its memory, so the file must stay. */
    stepTo: (seconds: number) => writeFile(clock, secondsAhead(seconds), { flag: "r+" }),
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

const secondsAhead = (seconds: number) => BigInt64Array.of(BigInt(seconds));

async function run(command: string, ...args: string[]): Promise<void> {
  const { status, lines } = await runCommand(command, args);
  if (status !== 0) {
    throw new Error(`The histories need root and a C compiler: ${command}: ${lines.join("; ")}`);
  }
}
