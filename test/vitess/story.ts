import { randomBytes } from "node:crypto";
import { AttemptOutcome, DeliveryState, DisputeOutcome, Platform } from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { findReadAccount } from "../../server/src/account/read-account-store.ts";
import { purgeDeletedAccounts } from "../../server/src/account-deletion/account-purge.ts";
import { readActivityRows } from "../../server/src/activity/activity-store.ts";
import { findApiKeys } from "../../server/src/admission/api-key-lookup-store.ts";
import {
  countBatch,
  countRest,
  deleteIdleWindows,
} from "../../server/src/admission/database-admission-store.ts";
import { storeUses } from "../../server/src/admission/key-use-store.ts";
import { hashApiKey } from "../../server/src/api-key/api-key.ts";
import { accountNoOf } from "../../server/src/common/ids.ts";
import { removeOldDeliveries } from "../../server/src/delivery/delivery-removal.ts";
import { countAttempts } from "../../server/src/delivery-stat/delivery-stat.ts";
import { deleteOldHours } from "../../server/src/delivery-stat/delivery-stat-store.ts";
import { readBacklog } from "../../server/src/dispatch/backlog-store.ts";
import { findChangedFeeds } from "../../server/src/feed-change/feed-change-store.ts";
import { addDismissed, listDismissed } from "../../server/src/notice/dismissed-store.ts";
import { tellLinkReused } from "../../server/src/notice/link-reuse.ts";
import { NoticeKind } from "../../server/src/notice/notice.ts";
import { listOpenOfAccount } from "../../server/src/notice/notice-store.ts";
import { removeOldNotices, sweepNotices } from "../../server/src/notice/notice-sweep.ts";
import {
  insertServiceCredential,
  listServiceCredentials,
} from "../../server/src/service-credential/service-credential-store.ts";
import { removeExpiredSessions } from "../../server/src/session/session-removal.ts";
import { hashSessionSecret } from "../../server/src/session/session-secret.ts";
import {
  deleteSession,
  exchangeLink,
  findLinkAccount,
  findReusedAccount,
} from "../../server/src/session/session-store.ts";
import { reencryptSecrets } from "../../server/src/signing-secret/reencrypt-secrets.ts";
import { createSecretKey } from "../../server/src/signing-secret/secret-cipher.ts";
import { unique } from "../harness/builders.ts";
import { firstRunOf, madeAttempt, type Services } from "../harness/services.ts";

const at = timestampFromMs(1_600_000_000_000);
const FAR_AHEAD = timestampFromMs(4_000_000_000_000);
const MONEY = { amountCents: 500n, currency: "eur" };
const HOUR_MICROS = 3_600_000_000;
/** The number of accounts: enough that they are on different shards. */
const ACCOUNTS = 12;

/** Makes the product send every kind of statement, for several accounts at once where it can. */
export async function tellStory(services: Services): Promise<void> {
  const accounts = await Promise.all(Array.from({ length: ACCOUNTS }, services.createAccount));
  await Promise.all(accounts.map((accountId) => ownAccount(services, accountId)));
  await admit(services, accounts);
  await read(services, accounts);
  const endpoints = await Promise.all(
    accounts.map(async (accountId) => ({
      accountId,
      endpointId: await services.createEndpoint(accountId, [1, 2, 3, 4]),
    })),
  );
  await Promise.all(endpoints.map((each) => own(services, each)));
  await Promise.all(accounts.map((accountId) => write(services, accountId)));
  await deliver(services, endpoints);
  await lookAfter(services, accounts);
}

type Owned = { readonly accountId: string; readonly endpointId: string };

async function ownAccount({ accounts }: Services, accountId: string): Promise<void> {
  await accounts.blockAccount({ accountId });
  await accounts.unblockAccount({ accountId });
  await accounts.verifyAccount({ accountId });
  const { account } = await accounts.getAccount({ accountId });
  await accounts.getAccount({ username: account?.username ?? "" });
  const { externalId = "", username = "" } = account ?? {};
  await accounts.putAccount({ externalId, username, displayName: "Another name" });
}

/** Counts two requests for each new key in one packet. Then runs the other statements of keys and credentials. */
async function admit({ apiKeys, pool, packets }: Services, accounts: readonly string[]) {
  const created = await Promise.all(
    accounts.map((accountId) => apiKeys.createApiKey({ accountId, name: "key", validityDays: 30 })),
  );
  const hashes = created.map(({ secret }) => hashApiKey(secret));
  const clients = hashes.flatMap(() => [randomBytes(9), randomBytes(9)]);
  await countBatch(packets, clients, [...hashes, ...hashes]);
  await countRest(packets, clients.slice(0, 2), hashes);
  await deleteIdleWindows(pool, 1);
  await findApiKeys(pool, hashes);
  await findChangedFeeds(pool, 5_000);
  await storeUses(pool, hashes, Date.now() * 1000);
  const accountId = accounts[0] ?? "";
  const key = { accountId, apiKeyId: created[0]?.apiKey?.id ?? "" };
  await apiKeys.renewApiKey({ ...key, validityDays: 30 });
  await apiKeys.revokeApiKey(key);
  await apiKeys.listApiKeys({ accountId });
  await insertServiceCredential(pool, CREDENTIAL, 1, randomBytes(32));
  await listServiceCredentials(pool);
}

const CREDENTIAL = { name: unique("service"), permissions: new Set<never>(), accountId: undefined };

/** Reads every page that has its own statement. */
async function read({ pool }: Services, [accountId = ""]: readonly string[]) {
  await findReadAccount(pool, accountId);
  const position = { recordedAtMicros: 1, recordKey: "0" };
  for (const type of [0, 1]) {
    for (const platform of [0, 1]) {
      for (const ascending of [true, false]) {
        const query = { limit: 50, ascending, type, platform, sinceMicros: 1, untilMicros: 2 };
        for (const after of [undefined, position]) {
          await readActivityRows(pool, accountNoOf(accountId) ?? 0, query, after as never);
        }
      }
    }
  }
}

async function own({ endpoints, sessions, packets, pool }: Services, key: Owned) {
  const { accountId } = key;
  await endpoints.getEndpoint(key);
  await endpoints.listEndpoints({ accountId });
  await endpoints.getEndpointStats({ ...key, since: at });
  await endpoints.updateEndpoint({ ...key, url: "https://example.com/other" });
  await endpoints.rotateSecret(key);
  await endpoints.rotateSecret({ ...key, signsFrom: timestampFromMs(Date.now() + 3_500_000) });
  await sweepNotices(pool);
  await endpoints.cancelRotation(key);
  await endpoints.switchOffEndpoint(key);
  await endpoints.switchOnEndpoint(key);
  const { url } = await sessions.createSessionLink({ accountId, scopes: [1] });
  const code = url.slice(url.indexOf("=") + 1);
  const hash = randomBytes(32);
  const { signal } = new AbortController();
  await exchangeLink(packets, signal, hashSessionSecret(code), hash, randomBytes(32));
  await findLinkAccount(pool, hashSessionSecret(code));
  await findReusedAccount(pool, hashSessionSecret(code), undefined);
  await addDismissed(pool, hash, 1n);
  await listDismissed(pool, hash);
  await packets.run([deleteSession(hash)]);
}

/** Makes an account's writes. Those of several accounts wait together and share a commit. */
async function write({ donations, platformEvents, importRows }: Services, accountId: string) {
  const key = { accountId, externalId: unique("donation") };
  await donations.createDonation({ ...key, ...MONEY, donatedAt: at });
  await donations.payDonation(key);
  await donations.refundDonation({ ...key, refundExternalId: "refund", amountCents: 100n });
  const dispute = { ...key, disputeExternalId: "dispute" };
  await donations.openDispute(dispute);
  await donations.resolveDispute({ ...dispute, outcome: DisputeOutcome.WON });
  await donations.deleteDonation(key);
  const month = { accountId, externalId: unique("month"), ...MONEY, contributedAt: at };
  await donations.recordContribution({ ...month, subscriptionExternalId: unique("monthly") });
  const event = { accountId, platform: Platform.LIVE_PLATFORM_1, externalId: unique("follow") };
  await platformEvents.recordPlatformEvent({ ...event, kind: { case: "follow", value: {} } });
  await platformEvents.deletePlatformEvent(event);
  const row = { ...MONEY, externalId: unique("row"), donatedAt: at };
  await importRows(accountId, Platform.CSV, [row, { ...row, externalId: unique("row") }]);
}

async function deliver(services: Services, owned: readonly Owned[]) {
  const { dispatch, deliveries, endpoints, store } = services;
  const sendTest = async (key: Owned) =>
    firstRunOf(key.accountId, (await endpoints.sendTest(key)).deliveryId);
  const runs = await Promise.all(owned.map(sendTest));
  await dispatch.getInstallation({});
  await dispatch.claimAttempts({ limit: 256, endpointLimit: 64 });
  await store.renewLeases(runs.map((run) => ({ ...run, accountNo: Number(run.accountNo) })));
  const failed = (attempt: number, outcome: AttemptOutcome, retryIn?: { seconds: bigint }) =>
    dispatch.recordAttempts({
      attempts: runs.map((run) =>
        madeAttempt(run, outcome, { attempt, ...(retryIn && { retryIn }) }),
      ),
    });
  await failed(1, AttemptOutcome.RECEIVER_BUSY, { seconds: 60n });
  const { retries } = await dispatch.claimRetries({ limit: 64 });
  await dispatch.completeRetries({ runs: retries.flatMap(({ run }) => run ?? []) });
  const [run] = runs;
  await dispatch.loadAttempt({ run, attempt: 2 });
  await dispatch.rescheduleAttempt({ run, attempt: 2, wait: { seconds: 5n } });
  await store.resumeOverdue(-HOUR_MICROS, 200);
  await failed(2, AttemptOutcome.REJECTED);
  await Promise.all(
    owned.map(async ({ accountId, endpointId }, place) => {
      const deliveryId = runs[place]?.deliveryId ?? "";
      for (const filter of [{}, { endpointId }, { state: DeliveryState.FAILED }]) {
        await deliveries.listDeliveries({ accountId, ...filter });
      }
      await deliveries.getDelivery({ accountId, deliveryId });
      await deliveries.retryDelivery({ accountId, deliveryId });
      const range = { since: at, until: FAR_AHEAD };
      await deliveries.countRetriableDeliveries({ accountId, ...range });
      await deliveries.retryFailedDeliveries({ accountId, endpointId, ...range });
      await endpoints.deleteEndpoint({ accountId, endpointId });
    }),
  );
  await dispatch.claimAttempts({ limit: 256, endpointLimit: 64 });
}

/** Runs the periodic jobs and an operator's tasks. */
async function lookAfter({ pool, accounts, database, notices }: Services, ids: readonly string[]) {
  await countAttempts(pool);
  const soon = Date.now() * 1000 + HOUR_MICROS;
  for (const accountId of ids) {
    const expire = "UPDATE api_key SET expires_at = ? WHERE account_no = ?";
    await database.query(expire, [soon, accountNoOf(accountId)]);
    await tellLinkReused(pool, accountId, accountId);
    const choice = { kinds: Object.values(NoticeKind), without: [1n] };
    await listOpenOfAccount(pool, accountId, choice, 10);
  }
  for (let time = 0; time < 2; time++) await sweepNotices(pool);
  await notices.listNotices({ limit: 10 });
  await notices.listNotices({ accountId: ids[0] ?? "", limit: 10 });
  await removeOldNotices(pool, HOUR_MICROS);
  await deleteOldHours(pool, HOUR_MICROS, 10);
  await readBacklog(pool);
  await removeOldDeliveries(pool, -HOUR_MICROS);
  await removeExpiredSessions(pool);
  await reencryptSecrets(database.url, [createSecretKey(randomBytes(32))], undefined);
  for (const accountId of ids) await accounts.deleteAccount({ accountId });
  await purgeDeletedAccounts(pool);
}
