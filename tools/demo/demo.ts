import { join } from "node:path";
import { Code, ConnectError } from "@connectrpc/connect";
import { isAway, readRunningProduct, tellNotRunning } from "../running-product.ts";
import { createClients } from "./demo-account.ts";
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
const { dataDir, coreUrl, serviceCredential, demo } = await readRunningProduct(process.env);
try {
  const clients = createClients(coreUrl, serviceCredential);
  const at = { clients, accountId: demo.accountId, lastFile: join(dataDir, "last-donation.json") };
  process.stdout.write(`${await action.run(at, args)}\n`);
} catch (error) {
  const isForPeople = error instanceof DemoError || error instanceof ConnectError;
  if (!isForPeople) throw error;
  if (isAway(error)) tellNotRunning();
  else if (error instanceof ConnectError && error.code === Code.Unavailable) {
    process.stderr.write(`${error.rawMessage}\n`);
  } else process.stderr.write(`${error.message}\nnpm run demo -- ${name} ${action.usage}\n`);
  process.exitCode = 1;
}
