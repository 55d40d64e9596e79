import { setTimeout } from "node:timers/promises";
import {
  AccountService,
  ApiKeyService,
  DisputeOutcome,
  DonationService,
  EndpointService,
  ImportService,
  PlatformEventService,
  SessionScope,
  SessionService,
} from "@activity/proto";
import {
  type Client,
  Code,
  ConnectError,
  createClient,
  type Interceptor,
} from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import {
  demoContribution,
  demoDonations,
  demoHistory,
  demoPlatformEvents,
} from "./demo-records.ts";
import { createLocalCredential } from "./local-credential.ts";
import type { LocalSettings } from "./local-settings.ts";
import type { Progress } from "./progress.ts";

const KEY_VALIDITY_DAYS = 365;
const KEY_RETRY_MS = 2_000;
/** The form of an account id, and nobody's. */
const NO_ACCOUNT = "000000000000000";
/** Of the demo donations one in nine is partly refunded, one in fourteen disputed and won, … */
const PARTLY_REFUNDED_EVERY = 9;
const DISPUTED_EVERY = 14;
const REFUNDED_EVERY = 23;

/**
 * Makes sure that the demo account is there with its records and a key, writing everything as the internal
 * services do: over gRPC with a service credential. What a first start that was cut off wrote is kept,
 * because every write is idempotent.
 */
export async function ensureDemo(options: {
  readonly databaseUrl: string;
  readonly coreUrl: string;
  readonly settings: LocalSettings;
  readonly save: (settings: LocalSettings) => Promise<void>;
  readonly progress: Progress;
}): Promise<LocalSettings> {
  const { coreUrl, databaseUrl, save } = options;
  const known = options.settings.serviceCredential;
  if (known !== undefined && (await isKnown(createClients(coreUrl, known)))) {
    const clients = createClients(coreUrl, known);
    const settings = { ...options.settings, coreUrl };
    if (settings.demo && (await hasActiveKey(clients, settings.demo.accountId))) {
      await save(settings);
      return settings;
    }
    return addDemo(clients, settings, options);
  }
  const serviceCredential = await createLocalCredential(databaseUrl);
  const settings = { ...options.settings, coreUrl, serviceCredential };
  await save(settings);
  return addDemo(createClients(coreUrl, serviceCredential), settings, options);
}

async function addDemo(
  clients: Clients,
  settings: LocalSettings,
  { save, progress }: { save: (settings: LocalSettings) => Promise<void>; progress: Progress },
): Promise<LocalSettings> {
  const demo = await progress.step("Writing the demo account", () => writeDemo(clients));
  const complete = { ...settings, ...(demo && { demo }) };
  await save(complete);
  return complete;
}

/** Whether the database knows the credential; it does not when another database is used than last time. */
async function isKnown({ sessions }: Clients): Promise<boolean> {
  try {
    const scopes = [SessionScope.KEYS_READ];
    await sessions.createSessionLink({ accountId: NO_ACCOUNT, scopes });
    return true;
  } catch (error) {
    const { code } = ConnectError.from(error);
    // One that an earlier version made may lack what this version asks for.
    return code !== Code.Unauthenticated && code !== Code.PermissionDenied;
  }
}

/** What calls the core for the demo. */
export type Clients = {
  readonly accounts: Client<typeof AccountService>;
  readonly apiKeys: Client<typeof ApiKeyService>;
  readonly donations: Client<typeof DonationService>;
  readonly endpoints: Client<typeof EndpointService>;
  readonly events: Client<typeof PlatformEventService>;
  readonly imports: Client<typeof ImportService>;
  readonly sessions: Client<typeof SessionService>;
};

/** Creates clients that show a service credential. */
export function createClients(baseUrl: string, serviceCredential: string): Clients {
  const authorize: Interceptor = (next) => (request) => {
    request.header.set("authorization", `Bearer ${serviceCredential}`);
    return next(request);
  };
  const transport = createGrpcTransport({ baseUrl, interceptors: [authorize] });
  return {
    accounts: createClient(AccountService, transport),
    apiKeys: createClient(ApiKeyService, transport),
    donations: createClient(DonationService, transport),
    endpoints: createClient(EndpointService, transport),
    events: createClient(PlatformEventService, transport),
    imports: createClient(ImportService, transport),
    sessions: createClient(SessionService, transport),
  };
}

/** The one key that this program makes is active until it expires or its owner revokes it. */
async function hasActiveKey({ apiKeys }: Clients, accountId: string): Promise<boolean> {
  try {
    const { apiKeys: keys } = await apiKeys.listApiKeys({ accountId });
    return keys.some((key) => key.active);
  } catch (error) {
    if (ConnectError.from(error).code === Code.NotFound) return false;
    throw error;
  }
}

async function writeDemo(clients: Clients): Promise<LocalSettings["demo"]> {
  const { account } = await clients.accounts.putAccount({
    externalId: "demo",
    username: "demo",
    displayName: "Demo Streamer",
  });
  const accountId = account?.id ?? "";
  await clients.accounts.verifyAccount({ accountId });
  await writeHistory(clients, accountId);
  await writeDonations(clients, accountId);
  for (const event of demoPlatformEvents()) {
    await clients.events.recordPlatformEvent({ accountId, ...event });
  }
  return { accountId, apiKey: await createKey(clients, accountId) };
}

/** Creates the demo's key; after a start that was cut off just then, once the minute between two is over. */
async function createKey({ apiKeys }: Clients, accountId: string): Promise<string> {
  for (;;) {
    try {
      const request = { accountId, name: "Demo", validityDays: KEY_VALIDITY_DAYS };
      return (await apiKeys.createApiKey(request)).secret;
    } catch (error) {
      if (ConnectError.from(error).code !== Code.ResourceExhausted) throw error;
      await setTimeout(KEY_RETRY_MS);
    }
  }
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
      await donations.resolveDispute({ ...dispute, outcome: DisputeOutcome.WON });
    }
  }
  await donations.recordContribution({ accountId, ...demoContribution() });
}
