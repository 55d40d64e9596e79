import { setTimeout } from "node:timers/promises";
import * as proto from "@activity/proto";
import { Code, ConnectError, createClient, type Interceptor } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { createLocalCredential } from "../../dev-stack/src/local-credential.ts";
import type { LocalSettings } from "../../dev-stack/src/local-settings.ts";
import type { Progress } from "../../dev-stack/src/progress.ts";
import { StackError } from "../../dev-stack/src/stack-error.ts";
import {
  demoContribution,
  demoDonations,
  demoHistory,
  demoPlatformEvents,
} from "./demo-records.ts";

const KEY_VALIDITY_DAYS = 365;
const KEY_RETRY_MS = 2_000;
/** A valid account id that no account has. */
const NO_ACCOUNT = "000000000000000";
/** The shares of demo donations: one in nine is partly refunded, one in 14 disputed and won, one in 23 refunded. */
const PARTLY_REFUNDED_EVERY = 9;
const DISPUTED_EVERY = 14;
const REFUNDED_EVERY = 23;

/** The settings once there is a demo account. */
export type DemoSettings = LocalSettings &
  Required<Pick<LocalSettings, "coreUrl" | "serviceCredential" | "demo">>;

/**
 * Creates the demo account with its records and an API key, if it is missing. Writes as internal services do: over gRPC
 * with a service credential. Every write is idempotent, so records of an interrupted start are kept.
 */
export async function ensureDemo(options: {
  readonly databaseUrl: string;
  readonly coreUrl: string;
  readonly settings: LocalSettings;
  readonly save: (settings: LocalSettings) => Promise<void>;
  readonly progress: Progress;
}): Promise<DemoSettings> {
  const { coreUrl, databaseUrl, save } = options;
  const { serviceCredential: stored, demo } = options.settings;
  const known = stored && (await isKnown(createClients(coreUrl, stored))) ? stored : undefined;
  const serviceCredential = known ?? (await createLocalCredential(databaseUrl));
  const settings = { ...options.settings, coreUrl, serviceCredential };
  await save(settings);
  const clients = createClients(coreUrl, serviceCredential);
  if (known && demo && (await isActive(clients, demo))) return { ...settings, demo };
  const written = await options.progress.step("Writing the demo account", () => writeDemo(clients));
  const complete = { ...settings, demo: written };
  await save(complete);
  return complete;
}

/** Tells whether the database knows the credential. A different database does not. */
async function isKnown({ sessions }: Clients): Promise<boolean> {
  try {
    const scopes = [proto.SessionScope.KEYS_READ];
    await sessions.createSessionLink({ accountId: NO_ACCOUNT, scopes });
    return true;
  } catch (error) {
    const { code } = ConnectError.from(error);
    // A credential of an earlier version counts as unknown if it lacks a permission that this version needs.
    return code !== Code.Unauthenticated && code !== Code.PermissionDenied;
  }
}

/** The clients that the demo and the benches call the core with. */
export type Clients = ReturnType<typeof createClients>;

/** Creates clients with a service credential. */
export function createClients(baseUrl: string, serviceCredential: string) {
  const authorize: Interceptor = (next) => (request) => {
    request.header.set("authorization", `Bearer ${serviceCredential}`);
    return next(request);
  };
  const transport = createGrpcTransport({ baseUrl, interceptors: [authorize] });
  return {
    accounts: createClient(proto.AccountService, transport),
    apiKeys: createClient(proto.ApiKeyService, transport),
    deliveries: createClient(proto.DeliveryService, transport),
    donations: createClient(proto.DonationService, transport),
    endpoints: createClient(proto.EndpointService, transport),
    events: createClient(proto.PlatformEventService, transport),
    imports: createClient(proto.ImportService, transport),
    sessions: createClient(proto.SessionService, transport),
  };
}

/** Tells whether the demo's API key is active: neither expired nor revoked. */
async function isActive({ apiKeys }: Clients, demo: DemoSettings["demo"]): Promise<boolean> {
  try {
    const { apiKeys: keys } = await apiKeys.listApiKeys({ accountId: demo.accountId });
    return keys.some((key) => key.active && demo.apiKey.startsWith(key.prefix));
  } catch (error) {
    if (ConnectError.from(error).code === Code.NotFound) return false;
    throw error;
  }
}

async function writeDemo(clients: Clients) {
  const names = { externalId: "demo", username: "demo", displayName: "Demo Streamer" };
  const { account } = await clients.accounts.putAccount(names);
  const accountId = account?.id ?? "";
  await clients.accounts.verifyAccount({ accountId });
  await writeHistory(clients, accountId);
  await writeDonations(clients, accountId);
  for (const event of demoPlatformEvents()) {
    await clients.events.recordPlatformEvent({ accountId, ...event });
  }
  return { accountId, apiKey: await createKey(clients, accountId) };
}

/**
 * Creates the demo's API key. Waits if an interrupted start created one less than a minute ago, because the core then
 * refuses another.
 */
export async function createKey(
  { apiKeys }: Pick<Clients, "apiKeys">,
  accountId: string,
  wait: (milliseconds: number) => Promise<unknown> = setTimeout,
): Promise<string> {
  for (;;) {
    try {
      const request = { accountId, name: "Demo", validityDays: KEY_VALIDITY_DAYS };
      return (await apiKeys.createApiKey(request)).secret;
    } catch (error) {
      const code = ConnectError.from(error).findDetails(proto.ErrorInfoSchema)[0]?.code;
      // Does not wait, because no wait ends this refusal: the API keys are valid for a year.
      if (code === "api_key_limit_reached") throw tooManyKeys();
      if (code !== "api_key_created_recently") throw error;
      await wait(KEY_RETRY_MS);
    }
  }
}

function tooManyKeys(): StackError {
  return new StackError(
    "The demo account has as many active API keys as an account may have: revoke one in its dashboard, or begin with an empty database (remove the data folder, or name another database in DATABASE_URL).",
  );
}

async function writeHistory({ imports }: Clients, accountId: string): Promise<void> {
  for (const { platform, rows } of demoHistory()) {
    async function* steps() {
      yield { step: { case: "opening" as const, value: { accountId, platform } } };
      yield { step: { case: "rows" as const, value: { rows } } };
    }
    for await (const { refused } of imports.importDonations(steps())) {
      if (refused > 0n) throw new Error("the demo's history was refused");
    }
  }
}

async function writeDonations({ donations }: Clients, accountId: string): Promise<void> {
  for (const [index, donation] of demoDonations().entries()) {
    const { externalId } = donation;
    const at = { accountId, externalId };
    await donations.createDonation({ accountId, ...donation });
    await donations.payDonation(at);
    const refund = (amountCents: bigint) =>
      donations.refundDonation({ ...at, refundExternalId: "refund", amountCents });
    if (index % PARTLY_REFUNDED_EVERY === 1) await refund(donation.amountCents / 2n);
    else if (index % REFUNDED_EVERY === 2) await refund(donation.amountCents);
    if (index % DISPUTED_EVERY === 3) {
      const dispute = { ...at, disputeExternalId: "dispute" };
      await donations.openDispute(dispute);
      await donations.resolveDispute({ ...dispute, outcome: proto.DisputeOutcome.WON });
    }
  }
  await donations.recordContribution({ accountId, ...demoContribution() });
}
