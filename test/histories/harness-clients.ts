import { setTimeout as wait } from "node:timers/promises";
import { DonationService, Platform, PlatformEventService } from "@activity/proto";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { expectToMatchOpenapi } from "../contract/openapi-conformance.ts";
import { type Clients, clientsOf } from "../harness/clients.ts";
import { type HttpAnswer, requestOf } from "../harness/http.ts";
import type { PageJson } from "../harness/json.ts";
import type { Operation } from "./harness-go.ts";

/** An account that is written, read and followed. */
export type Account = { readonly accountId: string; readonly apiKey: string };
/** Where the clients find the product, one port of each instance. */
export type Ports = { readonly cores: readonly number[]; readonly gateways: readonly number[] };

/** A call that was answered, by `performance.now()`. */
export type TimedCall = { readonly kind: string; readonly endMs: number; readonly ms: number };

const CALL_MS = 4_000;
const REQUEST_MS = 8_000;
const PAUSE_MS = 300;
const RECORDED_AT = /"recordedAt":\{[^}]*"seconds":"(\d+)","nanos":(\d+)/;
const HAMMER_MS = 100;
/** Shares of a writer's calls. */
const [REMOVALS, REPEATS, PAIRS] = [0.2, 0.1, 0.3];
/** Below the account's limit of 120 in 60 seconds, beside its follower. §8 */
const READ_EVERY_MS = 1_200;
const WRITE_EVERY_MS = 700;
/** What a gateway may answer amid faults. */
const STATUSES = [200, 429, 503];

const nowMicros = () => Math.round((performance.timeOrigin + performance.now()) * 1_000);

/** What a record is, by the first letter of its name. */
export const Kind = { Contribution: "c", Donation: "d", Refunded: "r", Follow: "f" } as const;
export const REFUND_CENTS = 1;
const FOLLOW = { platform: Platform.LIVE_PLATFORM_1, kind: { case: "follow", value: {} } } as const;
const MONEY = { amountCents: 500n, currency: "eur" };

type Call = (client: Clients) => Promise<unknown>;

/** Makes calls that add a record; made again they change nothing. */
function add(accountId: string, record: string): Call {
  const key = { accountId, externalId: record };
  const donor = { ...MONEY, donorName: record };
  return async (client) => {
    const donations = client(DonationService);
    if (record.startsWith(Kind.Follow)) {
      const event = { ...key, ...FOLLOW, actorName: record };
      return client(PlatformEventService).recordPlatformEvent(event);
    }
    if (record.startsWith(Kind.Contribution)) {
      const subscription = { subscriptionExternalId: record, contributedAt: timestampNow() };
      return donations.recordContribution({ ...key, ...donor, ...subscription });
    }
    await donations.createDonation({ ...key, ...donor, donatedAt: timestampNow() });
    const paid = await donations.payDonation(key);
    if (!record.startsWith(Kind.Refunded)) return paid;
    const refund = { refundExternalId: record, amountCents: BigInt(REFUND_CENTS) };
    return donations.refundDonation({ ...key, ...refund });
  };
}

const textOf = (answer: unknown) =>
  JSON.stringify(answer, (_, value) => (typeof value === "bigint" ? `${value}` : value));

function remove(accountId: string, record: string): Call {
  const key = { accountId, externalId: record };
  return (client) =>
    record.startsWith(Kind.Follow)
      ? client(PlatformEventService).deletePlatformEvent({ ...key, platform: FOLLOW.platform })
      : client(DonationService).deleteDonation(key);
}

/** Clients that note every operation, until they are told to stop. */
export function createClients(ports: Ports, credential: string, random: () => number) {
  const history: Operation[] = [];
  /** The calls that were answered well: of which kind, when each ended, and how long it took. */
  const calls: TimedCall[] = [];
  /** Answers that no client may get. */
  const wrong: string[] = [];
  let clients = 0;
  let records = 0;
  let isStopped = false;
  const cores = ports.cores.map((port) =>
    clientsOf(`http://127.0.0.1:${port}`, credential, { defaultTimeoutMs: CALL_MS }),
  );
  const any = <Value>(values: readonly Value[]) =>
    values[Math.floor(random() * values.length)] as Value;

  /** Asks any gateway; `undefined` where no answer came. */
  async function ask(path: string, apiKey: string, wish?: string): Promise<HttpAnswer | undefined> {
    const headers = wish === undefined ? {} : { prefer: wish };
    const answer = await Promise.race([
      requestOf(any(ports.gateways), path, { apiKey, headers }).catch(() => undefined),
      wait(REQUEST_MS, undefined, { ref: false }),
    ]);
    if (answer === undefined) return undefined;
    if (!STATUSES.includes(answer.status)) wrong.push(`${answer.status} ${answer.text}`);
    expectToMatchOpenapi(answer);
    return answer;
  }

  /** Repeats a call until it is answered, as the contract asks of writers; returns the answer as a text, if any came. */
  async function untilAnswered(call: Call): Promise<string | undefined> {
    for (let tries = 0; tries < 30; tries += 1) {
      const answer = await call(any(cores)).then(textOf, () => undefined);
      if (answer !== undefined) return answer;
      await wait(PAUSE_MS);
    }
    return undefined;
  }

  async function timed<Answer>(
    kind: string,
    ask: () => Promise<Answer>,
    isGood: (answer: Answer) => boolean,
  ): Promise<Answer> {
    const beganMs = performance.now();
    const answer = await ask();
    const endMs = performance.now();
    if (isGood(answer)) calls.push({ kind, endMs, ms: endMs - beganMs });
    return answer;
  }

  async function note(
    operation: Omit<Operation, "call" | "return" | "client">,
    client: number,
    call: Call,
  ): Promise<string | undefined> {
    const began = nowMicros();
    const answer = await timed("write", () => untilAnswered(call), Boolean);
    const [, seconds = 0, nanos = 0] = RECORDED_AT.exec(answer ?? "") ?? [];
    const recordedAt = Number(seconds) * 1_000_000 + Number(nanos) / 1_000;
    const returned = answer === undefined ? {} : { return: nowMicros(), recordedAt };
    history.push({ ...operation, client, call: began, ...returned });
    return answer;
  }

  const namesOf = (answer: HttpAnswer) =>
    answer.json<PageJson>().data.map(({ actor }) => actor?.name ?? "");

  return {
    ...{ history, calls, wrong },
    stop() {
      isStopped = true;
    },

    /**
     * Adds records, often two at once, removes some of its own, and repeats some calls that were answered: an answer is
     * the same each time.
     */
    async write({ accountId }: Account): Promise<void> {
      const own: string[] = [];
      const change = async (kind: "add" | "remove", record: string) => {
        const call = kind === "add" ? add(accountId, record) : remove(accountId, record);
        const answer = await note({ account: accountId, kind, record }, clients++, call);
        if (answer === undefined) return;
        if (kind === "add") own.push(record);
        if (random() >= REPEATS) return;
        const again = (await untilAnswered(call)) ?? answer;
        if (again !== answer) wrong.push(`${answer} and, when it is repeated, ${again}`);
      };
      while (!isStopped) {
        const [removed] =
          random() < REMOVALS ? own.splice(Math.floor(random() * own.length), 1) : [];
        const added = Array.from(
          { length: random() < PAIRS ? 2 : 1 },
          () => `${any(Object.values(Kind))}${records++}`,
        );
        if (removed !== undefined) await change("remove", removed);
        else await Promise.all(added.map((record) => change("add", record)));
        await wait(WRITE_EVERY_MS * (0.5 + random()));
      }
    },

    /** Reads the newest hundred records. */
    async read({ accountId: account, apiKey }: Account): Promise<void> {
      const client = clients++;
      while (!isStopped) {
        const call = nowMicros();
        const answer = await timed(
          "read",
          () => ask("/api/v1/activity?limit=100", apiKey),
          (given) => given?.status === 200,
        );
        if (answer?.status === 200) {
          const page = namesOf(answer);
          history.push({ account, client, kind: "read", page, call, return: nowMicros() });
        }
        await wait(READ_EVERY_MS);
      }
    },

    /** Follows a feed from its start by waiting polls, and returns what it was given once `isOver` says so. */
    async follow({ apiKey }: Account, isOver: () => boolean): Promise<string[]> {
      const given: string[] = [];
      let cursor = "";
      for (;;) {
        const from = cursor && `&cursor=${cursor}`;
        const isLast = isOver();
        const answer = await ask(`/api/v1/activity?order=asc&limit=100${from}`, apiKey, "wait=5");
        if (answer?.status !== 200) {
          await wait(PAUSE_MS);
          continue;
        }
        const names = namesOf(answer);
        given.push(...names);
        cursor = answer.json<PageJson>().pagination.next_cursor ?? cursor;
        if (isLast && names.length === 0) return given;
        await wait(PAUSE_MS);
      }
    },

    /** Asks far more often than the limit allows; returns when each admitted request began and ended. */
    async hammer({ apiKey }: Account): Promise<(readonly [number, number])[]> {
      const admitted: (readonly [number, number])[] = [];
      const one = async () => {
        while (!isStopped) {
          const began = nowMicros();
          const answer = await ask("/api/v1/me", apiKey);
          if (answer?.status === 200) admitted.push([began, nowMicros()]);
          await wait(HAMMER_MS);
        }
      };
      await Promise.all([one(), one(), one()]);
      return admitted;
    },
  };
}
