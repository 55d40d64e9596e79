import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { findHaproxy } from "./find-haproxy.ts";
import type { Progress } from "./progress.ts";
import { spawnServer } from "./server-process.ts";
import { StackError } from "./stack-error.ts";

/** A HAProxy that serves, and keeps nothing. */
export interface RunningHaproxy {
  /** Whether it sends anything to the server of this name; `false` for one that it does not know. */
  isUp(server: string): Promise<boolean>;
  stop(): Promise<void>;
}

export interface SpawnHaproxy {
  env: NodeJS.ProcessEnv;
  cacheDir: string;
  progress: Progress;
  /** Its sections but `global`. */
  config: string;
  /** Files that the configuration names as `FOLDER/name`, by name: certificates. */
  files?: Readonly<Record<string, string>>;
}

const READY_MILLISECONDS = 30_000;
const POLL_MILLISECONDS = 50;
/** Of what it says of each server: its management guide, 9.1. */
const NAME_COLUMN = 1;
const STATUS_COLUMN = 17;

/** Starts one, found or fetched, and waits until it serves. */
export async function spawnHaproxy(options: SpawnHaproxy): Promise<RunningHaproxy> {
  const { env, cacheDir, progress, config, files = {} } = options;
  const { command, leading } = await findHaproxy(env, cacheDir, progress);
  const folder = await mkdtemp(join(tmpdir(), "activity-haproxy-"));
  const at = (name: string) => join(folder, name);
  for (const [name, content] of Object.entries(files)) {
    await writeFile(at(name), content, { mode: 0o600 });
  }
  const text = `global\n  stats socket ${at("stats")}\n${config.replaceAll("FOLDER", folder)}`;
  await writeFile(at("haproxy.cfg"), text);
  const args = [...leading, "-db", "-f", at("haproxy.cfg")];
  const server = await spawnServer({ command, args, env, logFile: at("haproxy.log") });
  const stop = async () => {
    await server.kill();
    await rm(folder, { recursive: true, force: true });
  };
  const deadline = performance.now() + READY_MILLISECONDS;
  while ((await readStatistics(at("stats")).catch(() => "")) === "") {
    if (server.hasEnded() || performance.now() > deadline) {
      const log = await readFile(at("haproxy.log"), "utf8");
      await stop();
      throw new StackError(`HAProxy did not start: ${log.slice(-2_000)}`);
    }
    await wait(POLL_MILLISECONDS);
  }
  return {
    async isUp(name) {
      const rows = (await readStatistics(at("stats"))).split("\n").map((row) => row.split(","));
      return rows.find((row) => row[NAME_COLUMN] === name)?.[STATUS_COLUMN] === "UP";
    },
    stop,
  };
}

async function readStatistics(path: string): Promise<string> {
  const socket = connect(path);
  socket.write("show stat\n");
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk;
  });
  await once(socket, "end");
  return text;
}
