import { randomUUID } from "node:crypto";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import type { Clients } from "../../dev-stack/src/demo.ts";
import { concurrently, type Target } from "../stack/targets.ts";

/** Pays donations to the targets in turn; each is one event to one endpoint. */
export async function writeEvents(
  { donations }: Clients,
  targets: readonly Target[],
  count: number,
): Promise<void> {
  const turns = Array.from({ length: count }, (_, index) => targets[index % targets.length]);
  await concurrently(turns, async (target) => {
    if (target === undefined) throw new Error("there is nobody to write to");
    const key = { accountId: target.accountId, externalId: randomUUID() };
    const donation = { amountCents: 500n, currency: "eur", donatedAt: timestampNow() };
    await donations.createDonation({ ...key, ...donation });
    await donations.payDonation(key);
  });
}
