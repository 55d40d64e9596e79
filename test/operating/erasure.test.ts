import { randomBytes } from "node:crypto";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as proto from "@activity/proto";
import { timestampFromMs, timestampNow } from "@bufbuild/protobuf/wkt";
import { beforeAll, expect, it, vi } from "vitest";
import { bytesOf, searchFile, secretBytes } from "../delivery/harness-byte-search.ts";
import type { Behaviour } from "../delivery/harness-receiver.ts";
import { answer } from "../delivery/harness-receiver-behaviours.ts";
import { createEndpoint, importDonations } from "../harness/builders.ts";
import { useTestDatabase } from "../harness/database.ts";
import { useFolder, useStarted } from "../harness/use-started.ts";
import { type Backups, createBackups } from "./harness-backup.ts";
import { startServedStack } from "./harness-served.ts";

const SETTLE = { timeout: 60_000, interval: 100 };
const MONEY = { amountCents: 500n, currency: "eur" };

const folder = useFolder("erasure");
const database = useTestDatabase();
const served = useStarted(() => startServedStack(folder, echo));
let backups: Backups;
let accountId: string;
/** Texts that occur nowhere else, by name. */
const texts = new Map<string, string>();
/** Answers to send once the account is deleted. */
const held: (() => void)[] = [];

/** Creates a text that occurs nowhere else, by default with characters beyond ASCII. */
function text(what: string, isPlain = false): string {
  const made = `${isPlain ? "" : "Zoë ★ "}${what}-${randomBytes(8).toString("hex")}`;
  texts.set(what, made);
  return made;
}

/** Echoes the request, as receivers may. The donor's name decides the status. */
const echo: Behaviour = (socket, request) => {
  const said = request.body.toString("utf8");
  if (said.includes(texts.get("held donor") ?? "?")) {
    held.push(() => answer(200, "", said)(socket, request));
    return;
  }
  answer(said.includes("retried donor") ? 503 : 200, "", said)(socket, request);
};

/** Creates the texts of a donation. */
const donationOf = (name: string) => ({
  ...{ accountId, externalId: text(`${name} id`, true) },
  ...{ donorName: text(`${name} donor`), message: text(`${name} message`) },
});

async function donate(name: string): Promise<{ accountId: string; externalId: string }> {
  const donation = { ...donationOf(name), ...MONEY, donatedAt: timestampNow() };
  const donations = served.client(proto.DonationService);
  await donations.createDonation(donation);
  await donations.payDonation(donation);
  return { accountId, externalId: donation.externalId };
}

/** Waits until the account's deliveries have exactly these states, in numeric order. */
async function untilStates(states: readonly proto.DeliveryState[]): Promise<void> {
  const there = async () => {
    const { deliveries } = await served.client(proto.DeliveryService).listDeliveries({ accountId });
    return deliveries.map(({ state }) => state).toSorted((a, b) => a - b);
  };
  await expect.poll(there, SETTLE).toEqual(states);
}

/** Lists the texts in a dump of all tables. A dump writes bytes in hexadecimal. */
const foundInTables = async () =>
  found([await backups.dump(new URL(database.url).pathname.slice(1))]);

/** Lists the names of the texts in these files, plain or in hexadecimal. */
async function found(files: readonly string[]): Promise<string[]> {
  const forms = [...texts].flatMap(([what, said]) => {
    const bytes = what.endsWith("bytes") ? said : bytesOf(said);
    const hex = Buffer.from(bytes, "latin1").toString("hex");
    return [bytes, hex, hex.toUpperCase()].map((form) => [form, what] as const);
  });
  const names = new Map(forms);
  const all = new Set<string>();
  for (const file of files) {
    for (const form of await searchFile(file, [...names.keys()])) all.add(names.get(form) ?? "");
  }
  return [...all].toSorted();
}

/** Lists all files of Temporal: its log, and its state with all histories, also those that its main file lacks yet. */
async function temporalFiles(): Promise<string[]> {
  const data = join(folder, "temporal");
  return (await readdir(data)).map((name) => join(data, name));
}

beforeAll(async () => {
  backups = await createBackups(folder, database);
  await served.start(database.url);
  const accounts = served.client(proto.AccountService);
  const { account } = await accounts.putAccount({
    ...{ externalId: text("account id"), username: text("username", true) },
    displayName: text("display name"),
  });
  accountId = account?.id ?? "";
  await accounts.verifyAccount({ accountId });
  const named = { accountId, name: text("key name"), validityDays: 30 };
  const key = await served.client(proto.ApiKeyService).createApiKey(named);
  texts.set("API key", key.secret);
  const scopes = [proto.SessionScope.KEYS_WRITE];
  const link = await served.client(proto.SessionService).createSessionLink({ accountId, scopes });
  texts.set("session code", link.url.split("#code=")[1] ?? "");
  const url = `https://127.0.0.1:${served.receiver.port}/${text("path", true)}`;
  const { endpointId, secret } = await createEndpoint(served, accountId, url);
  const signsFrom = timestampFromMs(Date.now() + 3_600_000);
  const rotated = { accountId, endpointId, signsFrom };
  const next = await served.client(proto.EndpointService).rotateSecret(rotated);
  for (const [what, one] of [["secret", secret] as const, ["next secret", next.secret] as const]) {
    texts.set(what, one);
    texts.set(`${what} bytes`, secretBytes(one));
  }
});

/** Texts that no table ever stores in plain. */
const NEVER_STORED = /^(API key|session code|(next )?secret( bytes)?)$/;

it("leaves no trace of a donation's text once it is deleted, delivered or retried. §6.4", async () => {
  const kept = await donate("kept");
  const delivered = await donate("delivered");
  const retried = await donate("retried");
  const refundExternalId = text("refund id", true);
  const refund = { ...delivered, amountCents: 1n, refundExternalId };
  await served.client(proto.DonationService).refundDonation(refund);
  const { RETRYING, DELIVERED, ERASED } = proto.DeliveryState;
  await untilStates([RETRYING, DELIVERED, DELIVERED, DELIVERED]);
  const said = ["delivered", "retried"].flatMap((one) => [`${one} donor`, `${one} message`]);
  expect(await foundInTables()).toEqual(expect.arrayContaining(said));

  await served.client(proto.DonationService).deleteDonation(delivered);
  await served.client(proto.DonationService).deleteDonation(retried);
  await untilStates([DELIVERED, DELIVERED, DELIVERED, ERASED]);
  const left = await foundInTables();
  expect(left.filter((what) => said.includes(what))).toEqual([]);
  // Other texts stay, and so do the ids that identify repeated writes.
  const ids = ["delivered id", "retried id", "refund id"];
  expect(left).toEqual(expect.arrayContaining(["kept donor", "kept message", ...ids]));
  expect(kept.externalId).toBe(texts.get("kept id"));
});

it("leaves no trace of an account's texts once it is deleted, in no table, log or history. §6.4", async () => {
  await served.client(proto.DonationService).recordContribution({
    ...{ ...donationOf("contribution"), ...MONEY, contributedAt: timestampNow() },
    subscriptionExternalId: text("subscription id", true),
  });
  const { donorName: actorName, ...event } = donationOf("platform event");
  await served.client(proto.PlatformEventService).recordPlatformEvent({
    ...{ ...event, actorName, platform: proto.Platform.LIVE_PLATFORM_1 },
    kind: { case: "cheer", value: { amount: 1n } },
  });
  const imported = donationOf("imported");
  expect(await importDonations(served, accountId, [imported])).toBe(1);
  const disputed = await donate("retried donor of a dispute");
  const disputeExternalId = text("dispute id", true);
  await served.client(proto.DonationService).openDispute({ ...disputed, disputeExternalId });
  await donate("held");
  // The log must not hold the texts of a refused write either.
  const apiKey = texts.get("API key") ?? "";
  const refused = { ...donationOf("refused"), ...MONEY, currency: "usd" };
  await expect(served.client(proto.DonationService).createDonation(refused)).rejects.toThrow("eur");
  const username = texts.get("username") ?? "";
  const other = { externalId: "another", username, displayName: text("other name") };
  await expect(served.client(proto.AccountService).putAccount(other)).rejects.toThrow();
  expect((await served.http(`/api/v1/activity?key=${apiKey}`, apiKey)).status).toBe(400);
  expect((await served.http("/api/v1/activity", apiKey)).text).toContain(imported.donorName);
  await vi.waitUntil(() => held.length > 0, SETTLE);
  const stored = [...texts.keys()].filter((what) => !NEVER_STORED.test(what));
  const erased = /^(delivered|retried) (donor|message)$|^refused |^other name$/;
  expect(await foundInTables()).toEqual(stored.filter((what) => !erased.test(what)).toSorted());

  const state = proto.DeliveryState.RETRYING;
  const deliveries = served.client(proto.DeliveryService);
  // Waits until the outbox has no entry, because Temporal then has the workflow.
  const retriedId = await vi.waitUntil(async () => {
    const [newest] = (await deliveries.listDeliveries({ accountId, state })).deliveries;
    const waiting = "SELECT 1 FROM outbox_entry WHERE delivery_id = ?";
    const entries = await database.query(waiting, [newest?.id ?? ""]);
    return entries.length === 0 && newest?.id;
  }, SETTLE);
  await served.client(proto.AccountService).deleteAccount({ accountId });
  for (const answerNow of held) answerNow();
  // Waits until the dispatcher has recorded the attempt. The core finds no delivery for it.
  await vi.waitUntil(async () => /attempts_in_flight 0$/m.test(await served.metrics()), SETTLE);
  await served.stopProduct();
  expect(await foundInTables()).toEqual([]);
  // Logs and histories may have ids. Finding the ids proves that the search works.
  texts.set("an account", accountId);
  texts.set("a retried delivery", retriedId);
  const log = join(folder, "product.log");
  await writeFile(log, served.log());
  expect(await found([log])).toEqual(["an account"]);
  expect(await found(await temporalFiles())).toEqual(["a retried delivery"]);
});
