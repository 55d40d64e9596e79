import { join } from "node:path";
import { Code, ConnectError } from "@connectrpc/connect";
import { createDashboardLink } from "../dev-stack/src/dashboard-link.ts";
import { createClients } from "../dev-stack/src/demo.ts";
import { readLocalSettings } from "../dev-stack/src/local-settings.ts";
import { readStackConfig } from "../dev-stack/src/stack-config.ts";

/** Prints a link to the dashboard of the demo account, for a running `npm start`. */
const [option] = process.argv.slice(2);
if (option !== undefined) {
  process.stdout.write(
    "npm run dashboard prints a new link that signs in once. It takes no options.\n",
  );
  process.exit(option === "--help" ? 0 : 1);
}
const { dataDir } = readStackConfig(process.env);
const { coreUrl, serviceCredential, demo } = await readLocalSettings(join(dataDir, "local.json"));
if (coreUrl === undefined || serviceCredential === undefined || demo === undefined) {
  process.stderr.write("Run `npm start` first, in another terminal.\n");
  process.exit(1);
}
try {
  const clients = createClients(coreUrl, serviceCredential);
  process.stdout.write(`${await createDashboardLink(clients, demo.accountId)}\n`);
} catch (error) {
  if (ConnectError.from(error).code !== Code.Unavailable) throw error;
  process.stderr.write("Run `npm start` first, in another terminal.\n");
  process.exitCode = 1;
}
