import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { DisputeOutcome, Platform, type RecordPlatformEventRequestSchema } from "@activity/proto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import type { Clients } from "./demo-account.ts";

/** The parameters of an action. */
export type DemoContext = {
  readonly clients: Clients;
  readonly accountId: string;
  /** Stores the last donation for later actions. */
  readonly lastFile: string;
};

type DemoAction = {
  readonly usage: string;
  /** Returns the line to print. Throws a `DemoError` for invalid arguments. */
  run(context: DemoContext, args: readonly string[]): Promise<string>;
};
type Kind = NonNullable<MessageInitShape<typeof RecordPlatformEventRequestSchema>["kind"]>;
type LastDonation = {
  readonly externalId: string;
  readonly amountCents: string;
  readonly disputeExternalId?: string;
};

/** An error whose message is for the user. */
export class DemoError extends Error {}

/** The actions by name. */
export const DEMO_ACTIONS: ReadonlyMap<string, DemoAction> = new Map([
  ["donate", { usage: '"NAME" CENTS "MESSAGE"', run: donate }],
  [
    "refund",
    { usage: "CENTS     of the last donation; its whole amount without CENTS", run: refund },
  ],
  [
    "dispute",
    { usage: "won|lost  about the last donation; without a word it opens", run: dispute },
  ],
  ["follow", event('"NAME"', () => ({ case: "follow", value: {} }))],
  [
    "subscribe",
    event('"NAME" MONTHS "MESSAGE"', (months) => ({ case: "subscription", value: { months } })),
  ],
  [
    "giftsub",
    event('"NAME" COUNT', (subscriptions) => ({ case: "giftsub", value: { subscriptions } })),
  ],
  ["cheer", event('"NAME" BITS "MESSAGE"', (amount) => ({ case: "cheer", value: { amount } }))],
  ["raid", event('"NAME" VIEWERS', (viewers) => ({ case: "raid", value: { viewers } }))],
]);

async function donate(
  { clients: { donations }, accountId, lastFile }: DemoContext,
  [donorName, amount, message]: readonly string[],
): Promise<string> {
  const amountCents = parseNumber(amount ?? "500");
  const key = { accountId, externalId: randomUUID() };
  await donations.createDonation({
    ...{ ...key, amountCents, currency: "eur", donatedAt: timestampNow() },
    ...(donorName !== undefined && { donorName }),
    ...(message !== undefined && { message }),
  });
  const { donation } = await donations.payDonation(key);
  const last: LastDonation = { externalId: key.externalId, amountCents: `${amountCents}` };
  await writeFile(lastFile, JSON.stringify(last));
  return `Donated: ${amountCents} cents as don_${donation?.recordId}`;
}

async function refund(
  { clients: { donations }, accountId, lastFile }: DemoContext,
  [amount]: readonly string[],
): Promise<string> {
  const { externalId, amountCents } = await readLast(lastFile);
  const { donation } = await donations.refundDonation({
    ...{ accountId, externalId, refundExternalId: randomUUID() },
    amountCents: parseNumber(amount ?? amountCents),
  });
  return `Refunded: ${donation?.refundedAmountCents} cents of don_${donation?.recordId}`;
}

async function dispute(
  { clients: { donations }, accountId, lastFile }: DemoContext,
  [word]: readonly string[],
): Promise<string> {
  const last = await readLast(lastFile);
  const { externalId, disputeExternalId = randomUUID() } = last;
  const key = { accountId, externalId, disputeExternalId };
  if (word === undefined) {
    const { donation } = await donations.openDispute(key);
    await writeFile(lastFile, JSON.stringify({ ...last, disputeExternalId }));
    return `Disputed: don_${donation?.recordId}, which the feed shows no more`;
  }
  if (word !== "won" && word !== "lost") throw new DemoError(`${word} is neither won nor lost.`);
  if (last.disputeExternalId === undefined) {
    throw new DemoError("There is no open dispute: npm run demo -- dispute");
  }
  const outcome = word === "won" ? DisputeOutcome.WON : DisputeOutcome.LOST;
  const { donation } = await donations.resolveDispute({ ...key, outcome });
  // Forgets the dispute's id, because the next dispute is a new one, with its own id.
  const { disputeExternalId: _, ...rest } = last;
  await writeFile(lastFile, JSON.stringify(rest));
  return `The dispute is ${word}: don_${donation?.recordId}`;
}

/**
 * Creates the action that records an event of a live platform. The number of months, bits and so on is 1 by default.
 */
function event(usage: string, kindOf: (number: bigint) => Kind): DemoAction {
  return {
    usage,
    async run({ clients: { events }, accountId }, [actorName, number, message]) {
      const kind = kindOf(parseNumber(number ?? "1"));
      const { platformEvent } = await events.recordPlatformEvent({
        ...{ accountId, platform: Platform.LIVE_PLATFORM_1, externalId: randomUUID(), kind },
        ...(actorName !== undefined && { actorName }),
        ...(message !== undefined && { message }),
      });
      return `Recorded: evt_${platformEvent?.recordId}`;
    },
  };
}

function parseNumber(text: string): bigint {
  if (/^\d{1,15}$/.test(text)) return BigInt(text);
  throw new DemoError(`${JSON.stringify(text)} is no whole number.`);
}

async function readLast(lastFile: string): Promise<LastDonation> {
  try {
    return JSON.parse(await readFile(lastFile, "utf8"));
  } catch {
    throw new DemoError("There is no donation yet: npm run demo -- donate");
  }
}
