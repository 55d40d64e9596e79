import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findOrFetch } from "../../dev-stack/src/find-or-fetch.ts";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { createProgress } from "../../dev-stack/src/progress.ts";
import { startServer } from "../../dev-stack/src/server-process.ts";
import { isListening } from "../harness/listening.ts";

const LOGGED_CONNECT = /CONNECT (\S+) HTTP/g;

/** Starts Tinyproxy with its files in `folder`. Downloads a missing Tinyproxy. The proxy needs a password. */
export async function startTinyproxy(folder: string) {
  const { env } = process;
  const launch = await findOrFetch(
    {
      ...{ title: "Tinyproxy", called: ["tinyproxy"], packages: ["tinyproxy-bin"] },
      ...{ folder: "tinyproxy", path: "usr/bin/tinyproxy", megabytes: 1 },
    },
    { env, progress: createProgress() },
  );
  const port = await findFreePort();
  const logFile = join(folder, "tinyproxy.log");
  const file = join(folder, "tinyproxy.conf");
  const lines = [`Port ${port}`, "Listen 127.0.0.1", "LogLevel Connect", "BasicAuth owner secret"];
  await writeFile(file, `${lines.join("\n")}\n`);
  const server = await startServer({
    ...{ title: "Tinyproxy", launch, args: ["-d", "-c", file], env, logFile },
    isReady: () => isListening(port),
  });
  return {
    url: new URL(`http://owner:secret@127.0.0.1:${port}`),
    /** The targets that clients asked for, as `host:port`. */
    async connectedTo(): Promise<readonly string[]> {
      const text = await readFile(logFile, "utf8");
      return [...text.matchAll(LOGGED_CONNECT)].map(([, to = ""]) => to);
    },
    stop: () => server.kill(),
  };
}
