import { ConnectError } from "@connectrpc/connect";
import { createDashboardLink } from "./demo/dashboard-link.ts";
import { createClients } from "./demo/demo-account.ts";
import { isAway, readRunningProduct, tellNotRunning } from "./running-product.ts";

/** Prints a link to the dashboard of the demo account, for a running `npm start`. */
const [option] = process.argv.slice(2);
if (option !== undefined) {
  process.stdout.write(
    "npm run dashboard prints a new link that signs in once. It takes no options.\n",
  );
  process.exit(option === "--help" ? 0 : 1);
}
const { coreUrl, serviceCredential, demo } = await readRunningProduct(process.env);
try {
  const clients = createClients(coreUrl, serviceCredential);
  process.stdout.write(`${await createDashboardLink(clients, demo.accountId)}\n`);
} catch (error) {
  if (!(error instanceof ConnectError)) throw error;
  if (isAway(error)) tellNotRunning();
  else process.stderr.write(`${error.rawMessage}\n`);
  process.exitCode = 1;
}
