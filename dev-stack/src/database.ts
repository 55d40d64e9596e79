import { rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { readSecret } from "@activity/runtime/environment";
import { createServerData } from "./create-data.ts";
import { DATABASE_NAME, initStatements, readCredentials } from "./credentials.ts";
import { checkDataMarker, dataIn, openDataFolder, writeMarker } from "./data-folder.ts";
import { type FolderOptions, GIVEN, type StartedOrGiven, startInFolder } from "./folder-server.ts";
import { LOOPBACK } from "./free-port.ts";
import { checkGivenDatabase } from "./given-database.ts";
import { findLogCause } from "./log-cause.ts";
import { isGreeting } from "./server-greeting.ts";
import { dataOption, serveOptions } from "./server-options.ts";
import { FLAVOUR_NAMES, findDatabaseServer, type ServerFlavour } from "./server-program.ts";
import { StackError } from "./stack-error.ts";
import type { StackOptions } from "./stack-options.ts";

export interface StartDatabase extends StackOptions, FolderOptions {
  /** Further options of the server program. They override ours. */
  serverOptions?: readonly string[] | undefined;
  /** Whether the database is for tests: faster, but not safe against loss of power. Its user then has every right. */
  ephemeral?: boolean | undefined;
}

export interface RunningDatabase extends StartedOrGiven {
  url: string;
  flavour: ServerFlavour | "given";
  version: string;
}

/**
 * Uses the database at `DATABASE_URL` or starts one: the server that `MYSQLD` names, one on the machine, or the
 * distribution's, downloaded. Throws {@link StackError} with one sentence for people.
 */
export async function startDatabase(options: StartDatabase): Promise<RunningDatabase> {
  const given = readSecret(options.env, "DATABASE_URL", (text) => {
    throw new StackError(text);
  });
  if (given) {
    const variable = options.env.DATABASE_URL ? "DATABASE_URL" : "DATABASE_URL_FILE";
    const version = await checkGivenDatabase(given, variable);
    return { ...GIVEN, url: given, flavour: "given", version };
  }
  const { env, progress, port, ephemeral = false, serverOptions = [] } = options;
  const dataDir = resolve(options.dataDir);
  const data = dataIn(dataDir);
  await openDataFolder(dataDir);
  const program = await findDatabaseServer(options);
  const { flavour, version } = program;
  const credentialsFile = join(dataDir, "credentials.json");
  const initFile = join(dataDir, "init.sql");
  const server = await startInFolder({
    ...{ title: FLAVOUR_NAMES[flavour], dataDir, mark: dataOption(data), port, progress },
    async prepare() {
      const marker = await openDataFolder(dataDir);
      if (marker?.state === "ready") checkDataMarker(dataDir, marker, program);
      else {
        await writeMarker(dataDir, { state: "creating", flavour, version });
        for (const path of [data, credentialsFile]) {
          await rm(path, { recursive: true, force: true });
        }
        await progress.step(`Creating the ${FLAVOUR_NAMES[flavour]} data folder`, () =>
          createServerData(program, data, ephemeral),
        );
      }
      await writeFile(initFile, initStatements(await readCredentials(credentialsFile), ephemeral), {
        mode: 0o600,
      });
      // Removes a file that a killed server may have left, because MySQL does not start with it.
      await rm(join(dataDir, "server.sock.lock"), { force: true });
      return (own) => ({
        ...{ launch: program, env, findCause: findLogCause, isReady: () => isGreeting(own) },
        args: [
          ...serveOptions(flavour, { data, initFile, port: own }, ephemeral),
          ...serverOptions,
        ],
        ...{ startSeconds: 300, graceSeconds: ephemeral ? 10 : 60 },
      });
    },
  });
  await writeMarker(dataDir, { state: "ready", flavour, version });
  const { user, password } = await readCredentials(credentialsFile);
  const url = `mysql://${user}:${password}@${LOOPBACK}:${server.port}/${DATABASE_NAME}`;
  return { ...server, url, flavour, version };
}
