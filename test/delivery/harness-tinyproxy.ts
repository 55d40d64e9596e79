import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findOrFetch } from "../../dev-stack/src/find-or-fetch.ts";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { createProgress } from "../../dev-stack/src/progress.ts";
import { startServer } from "../../dev-stack/src/server-process.ts";

/** A Tinyproxy that requires a password. */
export type RunningTinyproxy = {
  readonly url: URL;
  /** The targets that clients asked for, as `host:port`. */
  connectedTo(): Promise<readonly string[]>;
  stop(): Promise<void>;
};

const LOGGED_CONNECT = /CONNECT (\S+) HTTP/g;

/** Starts the machine's Tinyproxy, or downloads the distribution's. It listens on `port`, or on a free one. */
export async function startTinyproxy(port?: number): Promise<RunningTinyproxy> {
  const { env } = process;
  const options = { env, progress: createProgress() };
  const launch = await findOrFetch(
    {
      ...{ title: "Tinyproxy", called: ["tinyproxy"], packages: ["tinyproxy-bin"] },
      ...{ folder: "tinyproxy", path: "usr/bin/tinyproxy", megabytes: 1 },
    },
    options,
  );
  const folder = await mkdtemp(join(tmpdir(), "activity-tinyproxy-"));
  const own = port ?? (await findFreePort());
  const logFile = join(folder, "tinyproxy.log");
  const file = join(folder, "tinyproxy.conf");
  const lines = [`Port ${own}`, "Listen 127.0.0.1", "LogLevel Connect", "BasicAuth owner secret"];
  await writeFile(file, `${lines.join("\n")}\n`);
  const server = await startServer({
    ...{ title: "Tinyproxy", launch, args: ["-d", "-c", file], env, logFile },
    isReady: () => isOpen(own),
  });
  return {
    url: new URL(`http://owner:secret@127.0.0.1:${own}`),
    async connectedTo() {
      const text = await readFile(logFile, "utf8");
      return [...text.matchAll(LOGGED_CONNECT)].map(([, to = ""]) => to);
    },
    async stop() {
      await server.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
