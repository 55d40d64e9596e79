import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { findOrFetch } from "../../dev-stack/src/find-or-fetch.ts";
import { startServer } from "../../dev-stack/src/server-process.ts";
import type { StackOptions } from "../../dev-stack/src/stack-options.ts";

/** A running HAProxy. It stores nothing. */
export type RunningHaproxy = Awaited<ReturnType<typeof spawnHaproxy>>;

interface StartHaproxy extends StackOptions {
  /** The configuration without its `global` section. */
  config: string;
  /** Files by name, such as certificates. The configuration refers to them as `FOLDER/name`. */
  files?: Readonly<Record<string, string>>;
}

/** Columns of the statistics of each server (management guide, 9.1). */
const NAME_COLUMN = 1;
const STATUS_COLUMN = 17;

/** Starts the machine's HAProxy, or downloads the distribution's. */
export async function spawnHaproxy(options: StartHaproxy) {
  const { env, config, files = {} } = options;
  const launch = await findOrFetch(
    {
      ...{ title: "HAProxy", called: ["haproxy"], packages: ["haproxy"], folder: "haproxy" },
      ...{ path: "usr/sbin/haproxy", megabytes: 150 },
    },
    options,
  );
  const folder = await mkdtemp(join(tmpdir(), "activity-haproxy-"));
  const at = (name: string) => join(folder, name);
  for (const [name, content] of Object.entries(files)) {
    await writeFile(at(name), content, { mode: 0o600 });
  }
  const whole = `global\n  stats socket ${at("stats")}\n${config.replaceAll("FOLDER", folder)}`;
  await writeFile(at("haproxy.cfg"), whole);
  const statistics = () => {
    const socket = connect(at("stats"));
    socket.write("show stat\n");
    return text(socket);
  };
  const server = await startServer({
    ...{ title: "HAProxy", launch, args: ["-db", "-f", at("haproxy.cfg")], env },
    ...{ logFile: at("haproxy.log"), isReady: () => statistics().then(Boolean, () => false) },
  });
  return {
    /** Whether HAProxy sends traffic to the server of this name. `false` for an unknown name. */
    async isUp(name: string): Promise<boolean> {
      const rows = (await statistics()).split("\n").map((row) => row.split(","));
      return rows.find((row) => row[NAME_COLUMN] === name)?.[STATUS_COLUMN] === "UP";
    },
    async stop(): Promise<void> {
      await server.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
