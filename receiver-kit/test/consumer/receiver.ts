// A user's receiver. It is compiled against the packed kit as ES module and as CommonJS.
import { createServer } from "node:http";
import pg from "pg";
import {
  handleOnce,
  isKnownEvent,
  signedHeaders,
  VerificationError,
  type VerificationReason,
  verify,
  type WebhookEvent,
} from "receiver-kit";
import { createLambdaReceiver } from "receiver-kit/aws-lambda";
import { createExpressReceiver } from "receiver-kit/express";
import { createFetchReceiver } from "receiver-kit/fetch";
import { createMemoryStore } from "receiver-kit/memory";
import { createNestReceiver } from "receiver-kit/nestjs";
import { createNodeReceiver } from "receiver-kit/node-http";
import { createPgTransactionStore } from "receiver-kit/pg";
import { createIoredisStore, createNodeRedisStore } from "receiver-kit/redis";

const store = createMemoryStore();
const pgStore = createPgTransactionStore(new pg.Pool());

/** The work gets pg's own client type. */
export const pgReceiver = () =>
  createFetchReceiver({
    secrets,
    store: pgStore,
    handle: (webhookEvent, { client }) =>
      client.query<{ id: string }>("INSERT INTO reward VALUES ($1) RETURNING id", [
        webhookEvent.id,
      ]),
  });
const secrets = [process.env.OLD_SECRET, process.env.NEW_SECRET];

function describe(webhookEvent: WebhookEvent): string {
  if (webhookEvent.type === "donation.created") {
    const cents: number = webhookEvent.data.amount_cents;
    const message: string | null | undefined = webhookEvent.data.message;
    return `${cents} ${message}`;
  }
  if (!isKnownEvent(webhookEvent)) {
    const anything: unknown = webhookEvent.data.anything;
    return `${String(webhookEvent.type)} ${anything}`;
  }
  // @ts-expect-error: only some kinds have this field.
  return webhookEvent.data.refunded_amount_cents;
}

export async function receive(
  body: Uint8Array,
  headers: Headers,
): Promise<VerificationReason | 204> {
  try {
    const webhookEvent = await verify(body, headers, { secrets });
    await handleOnce(store, webhookEvent, async (handled, { signal }) => {
      if (!handled.test && !signal.aborted) console.log(describe(handled));
    });
    return 204;
  } catch (error) {
    if (error instanceof VerificationError) return error.reason;
    throw error;
  }
}

type RewardClient = {
  query(text: string, values?: unknown[]): Promise<{ rowCount: number | null; rows: never[] }>;
  release(error?: boolean): void;
  reward(): void;
};
declare const pool: Omit<RewardClient, "release"> & { connect(): Promise<RewardClient> };
createServer(
  createNodeReceiver({
    secrets,
    store: createPgTransactionStore(pool),
    handle: (_webhookEvent, { client }) => client.reward(),
  }),
);
declare const ioredis: Parameters<typeof createIoredisStore>[0];
declare const nodeRedis: Parameters<typeof createNodeRedisStore>[0];
const options = { secrets, store: createIoredisStore(ioredis), handle: () => {} };
createFetchReceiver(options);
createExpressReceiver({ ...options, store: createNodeRedisStore(nodeRedis) });
createNestReceiver(options);
createLambdaReceiver(options);
// @ts-expect-error: the store is required.
createFetchReceiver({ secrets, handle: () => {} });

export const headers: Promise<Record<string, string>> = signedHeaders({
  secret: "whsec_",
  eventId: "wev_1",
  body: "{}",
  timestampSeconds: 1,
});
