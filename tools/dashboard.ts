import { Code, ConnectError } from "@connectrpc/connect";
import { createDashboardLink } from "./demo/dashboard-link.ts";
import { createClients } from "./demo/demo-account.ts";
import { readRunningProduct, tellNotRunning } from "./running-product.ts";

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
  // Another checkout's core, which now has the port, does not know this one's credential.
  const away: readonly Code[] = [Code.Unavailable, Code.Unauthenticated];
  if (!away.includes(ConnectError.from(error).code)) throw error;
  tellNotRunning();
}
