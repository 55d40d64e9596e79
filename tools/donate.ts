import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { createClients } from "../dev-stack/src/demo.ts";
import { readLocalSettings } from "../dev-stack/src/local-settings.ts";
import { readStackConfig } from "../dev-stack/src/stack-config.ts";

/** Makes a paid donation to the demo account of a running `npm start`. */
const [donorName, amount = "500", message] = process.argv.slice(2);
if (!/^\d{1,15}$/.test(amount)) {
  process.stderr.write('npm run donate -- "NAME" CENTS "MESSAGE"\n');
  process.exit(1);
}
const { dataDir } = readStackConfig(process.env);
const { coreUrl, serviceCredential, demo } = await readLocalSettings(join(dataDir, "local.json"));
if (coreUrl === undefined || serviceCredential === undefined || demo === undefined) {
  process.stderr.write("Run `npm start` first, in another terminal.\n");
  process.exit(1);
}
const { donations } = createClients(coreUrl, serviceCredential);
const key = { accountId: demo.accountId, externalId: randomUUID() };
await donations.createDonation({
  ...key,
  amountCents: BigInt(amount),
  currency: "eur",
  donatedAt: timestampNow(),
  ...(donorName !== undefined && { donorName }),
  ...(message !== undefined && { message }),
});
const { donation } = await donations.payDonation(key);
process.stdout.write(`Donated: don_${donation?.recordId}\n`);
