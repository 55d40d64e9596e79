import { join } from "node:path";
import { Code, ConnectError } from "@connectrpc/connect";
import { createClients } from "../dev-stack/src/demo.ts";
import { readLocalSettings } from "../dev-stack/src/local-settings.ts";
import { readStackConfig } from "../dev-stack/src/stack-config.ts";
import { DEMO_ACTIONS, DemoError } from "./demo-actions.ts";

// Acts on the demo account of a running `npm start`.
//
//   npm run demo -- donate "Ada" 500 "For the stream"
//   npm run demo                                          lists all actions

const [name = "", ...args] = process.argv.slice(2);
const action = DEMO_ACTIONS.get(name);
if (action === undefined) {
  for (const [each, { usage }] of DEMO_ACTIONS) {
    process.stdout.write(`npm run demo -- ${each} ${usage}\n`);
  }
  process.exit(name === "" || name === "--help" ? 0 : 1);
}
const { dataDir } = readStackConfig(process.env);
const { coreUrl, serviceCredential, demo } = await readLocalSettings(join(dataDir, "local.json"));
if (coreUrl === undefined || serviceCredential === undefined || demo === undefined) {
  process.stderr.write("Run `npm start` first, in another terminal.\n");
  process.exit(1);
}
try {
  const clients = createClients(coreUrl, serviceCredential);
  const at = { clients, accountId: demo.accountId, lastFile: join(dataDir, "last-donation.json") };
  process.stdout.write(`${await action.run(at, args)}\n`);
} catch (error) {
  const isForPeople = error instanceof DemoError || error instanceof ConnectError;
  if (!isForPeople) throw error;
  const isAway = error instanceof ConnectError && error.code === Code.Unavailable;
  process.stderr.write(
    isAway
      ? "Run `npm start` first, in another terminal.\n"
      : `${error.message}\nnpm run demo -- ${name} ${action.usage}\n`,
  );
  process.exitCode = 1;
}
