import { setTimeout as wait } from "node:timers/promises";
import { ApiKeyService, DonationService, Platform, PlatformEventService } from "@activity/proto";
import { ConnectError } from "@connectrpc/connect";
import { type Checkpoint, FeedError, type Fetch, follow } from "../../feed/src/index.ts";
import { expectToMatchOpenapi } from "../contract/openapi-conformance.ts";
import { REFUSALS } from "../delivery/crash/harness-repeat.ts";
import { type Clients, clientsOf } from "../harness/clients.ts";
import { type HttpAnswer, requestOf } from "../harness/http.ts";
import type { PageJson } from "../harness/json.ts";
import { addRecord, Kind } from "../harness/records.ts";
import type { Operation } from "./harness-go.ts";

/** An account with writers, readers and followers. */
export type Account = { readonly accountId: string; readonly apiKey: string };
export type ApiKey = { readonly id: string; readonly text: string };
type Ports = { readonly cores: readonly number[]; readonly gateways: readonly number[] };

const CALL_MS = 4_000;
const REQUEST_MS = 8_000;
const PAUSE_MS = 300;
const RECORDED_AT = /"recordedAt":\{[^}]*"seconds":"(\d+)","nanos":(\d+)/;
const HAMMER_MS = 100;
/** A time before the first record. */
const SINCE = "2000-01-01T00:00:00Z";
/** The share of records at which a follower breaks off. It then starts again from its checkpoint. */
const BREAKS = 0.1;
/** The longest time that a gateway waits for a read. */
const CORE_CALL_MS = 5_000;
/** The shares of a writer's calls that remove a record, are repeated, or add two records at once. */
const [REMOVALS, REPEATS, PAIRS] = [0.2, 0.1, 0.3];
/** The pauses of an account's reader and of `poll`. Together they send less than its limit of 120 in 60 seconds. §8 */
const [READ_EVERY_MS, POLL_EVERY_MS] = [1_200, 1_000];
const WRITE_EVERY_MS = 700;
/** The statuses that a gateway may answer with during faults. */
const STATUSES = [200, 429, 503];

const nowMicros = () => Math.round((performance.timeOrigin + performance.now()) * 1_000);

/** The kind of a record, which is the first letter of its name. */
export const kindOf = (record: string) => record.charAt(0) as Kind;

type Call = (client: Clients) => Promise<unknown>;

/** Returns calls that add a record. A repetition changes nothing. */
const add =
  (accountId: string, record: string): Call =>
  (client) =>
    addRecord(client, kindOf(record), { accountId, externalId: record }, { donorName: record });

const namesOf = (answer: HttpAnswer) =>
  answer.json<PageJson>().data.map(({ actor }) => actor?.name ?? "");

/** Returns the recorded-at time in an answer, in microseconds; 0 if it has none. */
function recordedAtOf(answer: string): number {
  const [, seconds = 0, nanos = 0] = RECORDED_AT.exec(answer) ?? [];
  return Number(seconds) * 1_000_000 + Number(nanos) / 1_000;
}

const textOf = (answer: unknown) =>
  JSON.stringify(answer, (_, value) => (typeof value === "bigint" ? `${value}` : value));

function remove(accountId: string, record: string): Call {
  const key = { accountId, externalId: record };
  const platform = Platform.LIVE_PLATFORM_1;
  return (client) =>
    kindOf(record) === Kind.Follow
      ? client(PlatformEventService).deletePlatformEvent({ ...key, platform })
      : client(DonationService).deleteDonation(key);
}

/** Creates clients, which note every operation until `stop`. */
export function createClients(ports: Ports, credential: string, random: () => number) {
  const history: Operation[] = [];
  const wrong: string[] = [];
  let clients = 0;
  let addresses = 0;
  let records = 0;
  let isStopped = false;
  const cores = ports.cores.map((port) =>
    clientsOf(`http://127.0.0.1:${port}`, credential, { defaultTimeoutMs: CALL_MS }),
  );
  const any = <Value>(values: readonly Value[]) =>
    values[Math.floor(random() * values.length)] as Value;

  /** Returns an unused client address, because the limit of an address must not hide the limit of an account. */
  const newAddress = () => `203.0.113.${++addresses}`;

  /** Notes an answer that no gateway may give. */
  function check(answer: HttpAnswer | undefined): HttpAnswer | undefined {
    if (answer === undefined) return undefined;
    if (!STATUSES.includes(answer.status)) wrong.push(`${answer.status} ${answer.text}`);
    expectToMatchOpenapi(answer);
    return answer;
  }

  /** Sends a request from an address to any gateway. Returns `undefined` if no answer comes. */
  async function ask(path: string, apiKey: string, address: string, further = {}) {
    const headers = { "x-forwarded-for": address, ...further };
    return Promise.race([
      requestOf(any(ports.gateways), path, { apiKey, headers }).catch(() => undefined),
      wait(REQUEST_MS, undefined, { ref: false }),
    ]);
  }

  /** Repeats a call until a core answers, as writers must. Returns the answer as text, or `undefined` if none came. */
  async function untilAnswered(call: Call): Promise<string | undefined> {
    for (let tries = 0; tries < 30; tries += 1) {
      const answer = await call(any(cores)).then(textOf, (error: unknown) => {
        // A core may be away, but it has no reason to refuse.
        if (!(error instanceof ConnectError) || REFUSALS.has(error.code)) wrong.push(`${error}`);
      });
      if (answer !== undefined) return answer;
      await wait(PAUSE_MS);
    }
    return undefined;
  }

  /**
   * Makes requests from one address, each to any gateway. Calls `begin` before each request, and calls the function
   * that `begin` returned after the answer.
   */
  function fetchFrom(
    begin: () => (status: number, text: string) => void,
    statuses: readonly number[] = STATUSES,
  ): Fetch {
    const address = newAddress();
    return async (url, { headers, ...request }) => {
      const end = begin();
      const to = Object.assign(new URL(url), { port: any(ports.gateways) });
      const sent = { ...request, headers: { ...headers, "x-forwarded-for": address } };
      const answer = await fetch(to, sent);
      const text = await answer.text();
      if (!statuses.includes(answer.status)) wrong.push(`${answer.status} ${text}`);
      end(answer.status, text);
      return { status: answer.status, headers: answer.headers, text: async () => text };
    };
  }

  /** Follows a feed with a key, and revokes the key. Its follower must end, and must learn nothing more. */
  async function revoke(accountId: string, { id: apiKeyId, text: apiKey }: ApiKey): Promise<void> {
    const given: string[] = [];
    const over = new AbortController();
    let [isRevoking, isRevoked] = [false, false];
    const fetch = fetchFrom(() => {
      const wasRevoked = isRevoked;
      return (status) => {
        if (status === 401 && !isRevoking) wrong.push("a valid key is refused");
        if (!wasRevoked || status !== 200) return;
        wrong.push("a request with a revoked key is answered");
        over.abort();
      };
    }, [...STATUSES, 401]);
    const followAll = async () => {
      const follower = follow({ apiKey, fetch, since: SINCE, signal: over.signal });
      for await (const { actor } of follower) given.push(actor.name ?? "");
    };
    const ended = followAll()
      .catch((error: unknown) => error)
      .finally(() => over.abort());
    const [earlier, later] = [`${Kind.Follow}${records++}`, `${Kind.Follow}${records++}`];
    while ((await untilAnswered(add(accountId, earlier))) === undefined) if (isStopped) return;
    while (!given.includes(earlier) && !over.signal.aborted) await wait(PAUSE_MS);
    const call: Call = (client) => client(ApiKeyService).revokeApiKey({ accountId, apiKeyId });
    isRevoking = true;
    while ((await untilAnswered(call)) === undefined) if (isStopped) return;
    isRevoked = true;
    // Waits for reads that began before the revocation: they may show a record that is stored before they end.
    await wait(CORE_CALL_MS);
    await untilAnswered(add(accountId, later));
    const error = await ended;
    if (given.includes(later)) wrong.push(`${later} is given after its key was revoked`);
    const isRefused = error instanceof FeedError && error.code === "invalid_api_key";
    if (!isRefused) wrong.push(`a follower with a revoked key ends with ${error}`);
  }

  return {
    ...{ history, wrong },
    stop() {
      isStopped = true;
    },

    /** Adds records and removes some of them. Repeats some answered calls, which must get the same answer. */
    async write({ accountId }: Account): Promise<void> {
      const own: string[] = [];
      const change = async (kind: "add" | "remove", record: string) => {
        const call = kind === "add" ? add(accountId, record) : remove(accountId, record);
        const asked = { account: accountId, client: clients++, kind, record, call: nowMicros() };
        const answer = await untilAnswered(call);
        if (answer === undefined) {
          history.push(asked);
          return;
        }
        history.push({ ...asked, return: nowMicros(), recordedAt: recordedAtOf(answer) });
        if (kind === "add") own.push(record);
        if (random() >= REPEATS) return;
        const again = (await untilAnswered(call)) ?? answer;
        if (again !== answer) wrong.push(`${answer} but when repeated ${again}`);
      };
      while (!isStopped) {
        const [removed] =
          random() < REMOVALS ? own.splice(Math.floor(random() * own.length), 1) : [];
        const names = () => `${any(Object.values(Kind))}${records++}`;
        const added = Array.from({ length: random() < PAIRS ? 2 : 1 }, names);
        if (removed !== undefined) await change("remove", removed);
        else await Promise.all(added.map((record) => change("add", record)));
        await wait(WRITE_EVERY_MS * (0.5 + random()));
      }
    },

    /** Reads the newest hundred records. */
    async read({ accountId: account, apiKey }: Account): Promise<void> {
      const [client, address] = [clients++, newAddress()];
      while (!isStopped) {
        const call = nowMicros();
        const answer = check(await ask("/api/v1/activity?limit=100", apiKey, address));
        if (answer?.status === 200) {
          const page = namesOf(answer);
          history.push({ account, client, kind: "read", page, call, return: nowMicros() });
        }
        await wait(READ_EVERY_MS);
      }
    },

    /** Follows a feed from its start with waiting polls until `isOver`. Returns the names of its records. */
    async poll({ apiKey }: Account, isOver: () => boolean): Promise<string[]> {
      const given: string[] = [];
      const address = newAddress();
      let cursor = "";
      for (;;) {
        const from = cursor && `&cursor=${cursor}`;
        const isLast = isOver();
        const path = `/api/v1/activity?order=asc&limit=100${from}`;
        const answer = check(await ask(path, apiKey, address, { prefer: "wait=5" }));
        if (answer?.status !== 200) {
          await wait(PAUSE_MS);
          continue;
        }
        const names = namesOf(answer);
        given.push(...names);
        cursor = answer.json<PageJson>().pagination.next_cursor ?? cursor;
        if (isLast && names.length === 0) return given;
        await wait(POLL_EVERY_MS);
      }
    },

    /** Follows with the published client. Breaks off at some records, and starts again from `checkpoint`. */
    async follow({ apiKey }: Account, checkpoint: Checkpoint, isOver: () => boolean) {
      const given: string[] = [];
      const over = new AbortController();
      const fetch = fetchFrom(() => {
        const isLast = isOver();
        return (status, text) => {
          if (isLast && status === 200 && JSON.parse(text).data.length === 0) over.abort();
        };
      });
      const options = { apiKey, checkpoint, fetch, since: SINCE, signal: over.signal };
      while (!over.signal.aborted) {
        for await (const { actor } of follow(options)) {
          // The record is not processed, so the next start must give it again.
          if (random() < BREAKS) break;
          given.push(actor.name ?? "");
        }
      }
      return given;
    },

    /** Follows a quiet feed, and revokes one key after the other while a poll waits. */
    async revokeAll(accountId: string, keys: readonly ApiKey[]): Promise<void> {
      for (const key of keys) if (!isStopped) await revoke(accountId, key);
    },

    /** Sends far more requests than the limit allows. Returns when each admitted request began and ended. */
    async hammer({ apiKey }: Account): Promise<(readonly [number, number])[]> {
      const admitted: (readonly [number, number])[] = [];
      const one = async () => {
        const address = newAddress();
        while (!isStopped) {
          const began = nowMicros();
          const answer = check(await ask("/api/v1/me", apiKey, address));
          if (answer?.status === 200) admitted.push([began, nowMicros()]);
          await wait(HAMMER_MS);
        }
      };
      await Promise.all([one(), one(), one()]);
      return admitted;
    },
  };
}
