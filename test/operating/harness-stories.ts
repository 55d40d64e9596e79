import {
  AccountService,
  ApiKeyService,
  DeliveryService,
  DonationService,
  EndpointService,
  ImportService,
  Platform,
  PlatformEventService,
} from "@activity/proto";
import type { DescService } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { type Client, createClient, type Transport } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { expect, vi } from "vitest";
import { verify } from "../../receiver-kit/src/index.ts";
import { ALL_KINDS } from "../delivery/harness-deliveries.ts";
import type { Behaviour, Receiver } from "../delivery/harness-receiver.ts";
import { answer } from "../delivery/harness-receiver-behaviours.ts";
import { unique } from "../harness/builders.ts";
import { requestOf } from "../harness/http.ts";
import type { PageJson } from "../harness/json.ts";
import { withClientAddress } from "../harness/stack.ts";
import type { Front } from "./harness-front.ts";

/** Stories that are told one after the other in each of some loops, until one fails. */
export type Stories = {
  /** Waits until this many more were begun and ended well; rejects when one fails. */
  more(count: number): Promise<void>;
  /** Ends the loops, and waits until each story's webhook events have come. */
  stop(): Promise<void>;
};

const LOOPS = 2;
/** A donation that is paid and refunded in part, and a contribution that is one too and begins a subscription. */
const EVENTS_OF_A_STORY = 4;
const RECORDS_OF_A_STORY = 5;
const CALL_WITHIN_MS = 30_000;
const PATIENT = { timeout: 60_000, interval: 100 };

/**
 * Tells story after story. An account with a key and an endpoint gets a record of each kind,
 * written through the cores in turn. It is then read page by page through the gateways in turn. So
 * each instance continues what another began. The receiver takes what the endpoint's secret signed, and refuses
 * all else.
 */
export function startStories(options: {
  readonly cores: Front;
  readonly gateways: Front;
  readonly receiver: Receiver;
  /** A service credential that may do everything, at each moment. */
  readonly credential: () => string;
  /** Where the cores have TLS: PEM of their CA, and of what is shown to them. */
  readonly tls?: () => { readonly ca: string; readonly cert: string; readonly key: string };
}): Stories {
  const { cores, gateways, receiver, credential, tls } = options;
  const failures: string[] = [];
  const secrets = new Map<string, string>();
  /** Ids of webhook events. */
  const awaited = new Set<string>();
  const came = new Set<string>();
  const transports = new Map<string, Transport>();
  let told = 0;
  let isOver = false;
  receiver.behaviour = (socket, request) => void receive(socket, request);
  const loops = Promise.all(Array.from({ length: LOOPS }, () => tell()));

  async function tell(): Promise<void> {
    while (!isOver) {
      try {
        await tellOne();
        told += 1;
      } catch (error) {
        failures.push(`${error instanceof Error ? error.stack : error}`);
        isOver = true;
      }
    }
  }

  async function tellOne(): Promise<void> {
    const path = `/${unique("story")}`;
    const names = { externalId: unique("account"), username: unique("user"), displayName: "Ada" };
    const { account } = await call(AccountService, (client) => client.putAccount(names));
    const accountId = account?.id ?? "";
    await call(AccountService, (client) => client.verifyAccount({ accountId }));
    const key = { accountId, name: "story", validityDays: 30 };
    const { secret: apiKey } = await call(ApiKeyService, (client) => client.createApiKey(key));
    const url = `https://127.0.0.1:${receiver.port}${path}`;
    const created = await call(EndpointService, (client) =>
      client.createEndpoint({ accountId, url, kinds: { kinds: ALL_KINDS } }),
    );
    secrets.set(path, created.secret);
    const written = await writeRecords(accountId);
    const read = await readRecords(apiKey);
    expect(read).toHaveLength(RECORDS_OF_A_STORY);
    expect(read).toEqual(expect.arrayContaining(written));
    const { deliveries } = await call(DeliveryService, (client) =>
      client.listDeliveries({ accountId }),
    );
    expect(deliveries).toHaveLength(EVENTS_OF_A_STORY);
    for (const { eventId } of deliveries) awaited.add(eventId);
  }

  /** Returns the ids in the feed of those that it learns of. */
  async function writeRecords(accountId: string): Promise<string[]> {
    const [externalId, occurred] = [unique("donation"), timestampNow()];
    const named = { accountId, externalId };
    const paid = { amountCents: 500n, currency: "eur" };
    const donations = <Answer>(ask: (client: Client<typeof DonationService>) => Promise<Answer>) =>
      call(DonationService, ask);
    await donations((to) => to.createDonation({ ...named, ...paid, donatedAt: occurred }));
    const { donation } = await donations((to) => to.payDonation(named));
    const refund = { ...named, refundExternalId: unique("refund"), amountCents: 100n };
    await donations((to) => to.refundDonation(refund));
    const contribution = { subscriptionExternalId: unique("subscription"), ...paid };
    const { donation: contributed } = await donations((to) =>
      to.recordContribution({
        ...{ accountId, externalId: unique("contribution"), ...contribution },
        contributedAt: occurred,
      }),
    );
    const { platformEvent } = await call(PlatformEventService, (client) =>
      client.recordPlatformEvent({
        ...{ accountId, platform: Platform.LIVE_PLATFORM_1, externalId: unique("event") },
        kind: { case: "follow", value: {} },
      }),
    );
    await call(ImportService, async (client) => {
      const rows = [1, 2].map(() => ({ ...paid, externalId: unique("row"), donatedAt: occurred }));
      async function* steps() {
        const opening = { accountId, platform: Platform.CSV };
        yield { step: { case: "opening" as const, value: opening } };
        yield { step: { case: "rows" as const, value: { rows } } };
      }
      for await (const _ of client.importDonations(steps()));
    });
    return [
      `don_${donation?.recordId}`,
      `don_${contributed?.recordId}`,
      `evt_${platformEvent?.recordId}`,
    ];
  }

  /** Reads the feed in pages of two, each through another gateway, and returns the ids. */
  async function readRecords(apiKey: string): Promise<string[]> {
    const ids: string[] = [];
    let path = "/api/v1/activity?order=asc&limit=2";
    await get("/api/v1/me", apiKey);
    for (;;) {
      const { data, pagination } = (await get(path, apiKey)).json<PageJson>();
      ids.push(...data.map(({ id }) => id));
      if (data.length < 2) return ids;
      path = `/api/v1/activity?order=asc&limit=2&cursor=${pagination.next_cursor}`;
    }
  }

  async function get(path: string, apiKey: string) {
    const request = withClientAddress({ apiKey });
    const got = await gateways.use((port) => requestOf(port, path, request));
    if (got.status !== 200) throw new Error(`GET ${path} was answered ${got.status}: ${got.text}`);
    return got;
  }

  function call<Service extends DescService, Answer>(
    service: Service,
    ask: (client: Client<Service>) => Promise<Answer>,
  ): Promise<Answer> {
    return cores.use((port) => ask(createClient(service, transportTo(port))));
  }

  function transportTo(port: number): Transport {
    const pem = tls?.();
    const name = `${port} ${pem?.cert}`;
    const known = transports.get(name);
    if (known) return known;
    const transport = createGrpcTransport({
      baseUrl: `${pem ? "https" : "http"}://127.0.0.1:${port}`,
      defaultTimeoutMs: CALL_WITHIN_MS,
      ...(pem && { nodeOptions: pem }),
      interceptors: [
        (next) => (request) => {
          request.header.set("authorization", `Bearer ${credential()}`);
          return next(request);
        },
      ],
    });
    transports.set(name, transport);
    return transport;
  }

  async function receive(...[socket, request]: Parameters<Behaviour>): Promise<void> {
    const { body, headers, requestLine } = request;
    const path = requestLine.split(" ")[1] ?? "";
    try {
      const secret = await vi.waitUntil(() => secrets.get(path), PATIENT);
      const { id } = await verify(body, Object.fromEntries(headers), { secrets: secret });
      came.add(id);
      answer(204)(socket, request);
    } catch (error) {
      failures.push(`${path} refused an attempt: ${error}`);
      answer(400)(socket, request);
    }
  }

  const failIfAny = () => {
    if (failures.length > 0) throw new Error(failures.join("\n"));
  };

  return {
    async more(count) {
      // Those that are being told were begun before.
      const goal = told + LOOPS + count;
      await vi.waitUntil(() => {
        failIfAny();
        return told >= goal;
      }, PATIENT);
    },
    async stop() {
      isOver = true;
      await loops;
      const missing = () => [...awaited].filter((id) => !came.has(id));
      await expect.poll(missing, PATIENT).toEqual([]);
      failIfAny();
    },
  };
}
