import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { findOrFetch } from "../../dev-stack/src/find-or-fetch.ts";
import { createProgress } from "../../dev-stack/src/progress.ts";
import { startServer } from "../../dev-stack/src/server-process.ts";

/** A running HAProxy. It stores nothing. */
export type RunningHaproxy = Awaited<ReturnType<typeof startHaproxy>>;

/** Columns of the statistics of each server (management guide, 9.1). */
const NAME_COLUMN = 1;
const STATUS_COLUMN = 17;

/**
 * Starts HAProxy with its files in `folder`. Downloads a missing HAProxy. `config` is the configuration without its
 * `global` section.
 */
export async function startHaproxy(folder: string, config: string) {
  const { env } = process;
  const launch = await findOrFetch(
    {
      ...{ title: "HAProxy", called: ["haproxy"], packages: ["haproxy"], folder: "haproxy" },
      ...{ path: "usr/sbin/haproxy", megabytes: 150 },
    },
    { env, progress: createProgress() },
  );
  const at = (name: string) => join(folder, name);
  await writeFile(at("haproxy.cfg"), `global\n  stats socket ${at("stats")}\n${config}`);
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
    stop: () => server.kill(),
  };
}
