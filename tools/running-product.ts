import { join } from "node:path";
import { ErrorInfoSchema } from "@activity/proto";
import { Code, ConnectError } from "@connectrpc/connect";
import { readLocalSettings } from "../dev-stack/src/local-settings.ts";
import { readStackConfig } from "../dev-stack/src/stack-config.ts";
import { StackError } from "../dev-stack/src/stack-error.ts";

const NOT_RUNNING = "Run `npm start` first, in another terminal.\n";

/** Returns whether an error of a call means that this folder's `npm start` does not run. */
export function isAway(error: unknown): boolean {
  const failure = ConnectError.from(error);
  // A core that does not know the credential belongs to another checkout, which has the port now.
  if (failure.code === Code.Unauthenticated) return true;
  // A core that answers sends an ErrorInfo, even while its database is away.
  return failure.code === Code.Unavailable && failure.findDetails(ErrorInfoSchema).length === 0;
}

/** Tells the user that `npm start` does not run. The process then ends with 1. */
export function tellNotRunning(): void {
  process.stderr.write(NOT_RUNNING);
  process.exitCode = 1;
}

/** Reads what `npm start` stored: its data folder, its core and its demo account. Ends the process if it cannot. */
export async function readRunningProduct(env: NodeJS.ProcessEnv) {
  // This program does not listen, so the ports and hosts of its environment do not matter.
  const { dataDir } = readStackConfig({ DATA_DIR: env.DATA_DIR });
  const settings = await readLocalSettings(join(dataDir, "local.json")).catch((error) => {
    if (!(error instanceof StackError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  });
  const { coreUrl, serviceCredential, demo } = settings;
  if (coreUrl !== undefined && serviceCredential !== undefined && demo !== undefined) {
    return { dataDir, coreUrl, serviceCredential, demo };
  }
  tellNotRunning();
  process.exit();
}
