import { DeliveryService } from "@activity/proto";
import type { Client } from "@connectrpc/connect";
import { expect, vi } from "vitest";
import { verify } from "../../receiver-kit/src/index.ts";
import type { Behaviour, Receiver } from "../delivery/harness-receiver.ts";
import { answer } from "../delivery/harness-receiver-behaviours.ts";
import { createEndpoint, createReader, importDonations, unique } from "../harness/builders.ts";
import { type Clients, clientsOf } from "../harness/clients.ts";
import { requestOf } from "../harness/http.ts";
import type { PageJson } from "../harness/json.ts";
import { addRecord, Kind, recordIn } from "../harness/records.ts";
import { withClientAddress } from "../harness/stack.ts";
import type { Front } from "./harness-front.ts";

/** The events of a story: a donation is paid and partly refunded, and a contribution begins a subscription. */
const EVENTS_OF_A_STORY = 4;
const RECORDS_OF_A_STORY = 5;
const CALL_WITHIN_MS = 30_000;
const PATIENT = { timeout: 60_000, interval: 100 };

/**
 * Runs stories in parallel loops until one fails. A story is an account with a key, an endpoint and a record of each
 * kind. Calls alternate between cores, and reads of single pages alternate between gateways, so each instance
 * continues the work of another. The receiver accepts only requests that the endpoint's secret signed.
 */
export function startStories(options: {
  readonly cores: Front;
  readonly gateways: Front;
  readonly receiver: Receiver;
  /** Returns the current service credential with every permission. */
  readonly credential: () => string;
  /** For cores with TLS: the PEM of their CA, and of the client's certificate and key. */
  readonly tls?: () => { readonly ca: string; readonly cert: string; readonly key: string };
  /** The PEM of the CA of gateways with TLS. */
  readonly gatewaysCa?: () => string;
  /** How long the receiver waits before it answers, so that attempts stay in flight. */
  readonly receiverMs?: number;
  readonly loops?: number;
}) {
  const { cores, gateways, receiver, credential, tls, gatewaysCa } = options;
  const { receiverMs = 0, loops: count = 2 } = options;
  const failures: string[] = [];
  const secrets = new Map<string, string>();
  /** The ids of webhook events. */
  const expected = new Set<string>();
  const received = new Set<string>();
  let ended = 0;
  let isOver = false;
  receiver.behaviour = (socket, request) => void receive(socket, request);

  /** Creates a function that runs one story, with its own connections. */
  function createStoryRunner() {
    const clients = new Map<string, Clients>();

    function clientsTo(port: number): Clients {
      const pem = tls?.();
      const name = `${port} ${pem?.cert}`;
      const options = { defaultTimeoutMs: CALL_WITHIN_MS, ...(pem && { nodeOptions: pem }) };
      const url = `${pem ? "https" : "http"}://127.0.0.1:${port}`;
      const own = clients.get(name) ?? clientsOf(url, credential, options);
      clients.set(name, own);
      return own;
    }

    /** Calls go to the cores in turn. */
    const client: Clients = (service) =>
      new Proxy({} as Client<typeof service>, {
        get: (_, name) => (request: object) =>
          cores.use((port) => callOf(clientsTo(port)(service), name)(request)),
      });
    const callOf = (of: object, name: PropertyKey): ((request: object) => Promise<unknown>) =>
      Reflect.get(of, name);
    const stack = { client };

    async function runOne(): Promise<void> {
      const path = `/${unique("story")}`;
      const { accountId, apiKey } = await createReader(stack);
      const url = `https://127.0.0.1:${receiver.port}${path}`;
      secrets.set(path, (await createEndpoint(stack, accountId, url)).secret);
      const written = await writeRecords(accountId);
      const read = await readRecords(apiKey);
      expect(read).toHaveLength(RECORDS_OF_A_STORY);
      expect(read).toEqual(expect.arrayContaining(written));
      const { deliveries } = await client(DeliveryService).listDeliveries({ accountId });
      expect(deliveries).toHaveLength(EVENTS_OF_A_STORY);
      for (const { eventId } of deliveries) expected.add(eventId);
    }

    /** Writes a record of each kind. Returns their feed ids, made from the ids in the answers. */
    async function writeRecords(accountId: string): Promise<string[]> {
      const ids: string[] = [];
      for (const kind of [Kind.Refunded, Kind.Contribution, Kind.Follow]) {
        const key = { accountId, externalId: unique("record") };
        ids.push(recordIn(await addRecord(client, kind, key, { donorName: "Ada" })).id);
      }
      await cores.use((port) => importDonations({ client: clientsTo(port) }, accountId, 2));
      return ids;
    }

    /** Reads the feed in pages of two, each through the next gateway. Returns the ids. */
    async function readRecords(apiKey: string): Promise<string[]> {
      const ids: string[] = [];
      await get("/api/v1/me", apiKey);
      for (let cursor = ""; ; ) {
        const page = await get(`/api/v1/activity?order=asc&limit=2${cursor}`, apiKey);
        const { data, pagination } = page.json<PageJson>();
        ids.push(...data.map(({ id }) => id));
        if (data.length < 2) return ids;
        cursor = `&cursor=${pagination.next_cursor}`;
      }
    }

    async function get(path: string, apiKey: string) {
      const request = withClientAddress({ apiKey, ca: gatewaysCa?.() });
      const got = await gateways.use((port) => requestOf(port, path, request));
      if (got.status === 200) return got;
      throw new Error(`GET ${path} was answered ${got.status}: ${got.text}`);
    }

    return runOne;
  }

  async function receive(...[socket, request]: Parameters<Behaviour>): Promise<void> {
    const { body, headers, requestLine } = request;
    const path = requestLine.split(" ")[1] ?? "";
    try {
      const secret = await vi.waitUntil(() => secrets.get(path), PATIENT);
      const { id } = await verify(body, Object.fromEntries(headers), { secrets: secret });
      received.add(id);
      setTimeout(() => answer(204)(socket, request), receiverMs);
    } catch (error) {
      failures.push(`${path} refused an attempt: ${error}`);
      answer(400)(socket, request);
    }
  }

  const failIfAny = () => {
    if (failures.length > 0) throw new Error(failures.join("\n"));
  };
  const loops = Array.from({ length: count }, async () => {
    const runOne = createStoryRunner();
    while (!isOver) {
      try {
        await runOne();
        ended += 1;
      } catch (error) {
        failures.push(`${error instanceof Error ? error.stack : error}`);
        isOver = true;
      }
    }
  });

  return {
    /** Waits until this many further stories have started and ended well. Rejects if one fails. */
    async more(stories: number): Promise<void> {
      // The stories in progress started before this call, so they do not count.
      const goal = ended + count + stories;
      await vi.waitUntil(() => {
        failIfAny();
        return ended >= goal;
      }, PATIENT);
    },
    /** Ends the loops. Waits until every webhook event has arrived. */
    async stop(): Promise<void> {
      isOver = true;
      await Promise.all(loops);
      await expect.poll(() => [...expected].filter((id) => !received.has(id)), PATIENT).toEqual([]);
      failIfAny();
    },
  };
}
