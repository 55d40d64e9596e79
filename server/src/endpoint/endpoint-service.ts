import type { EndpointSchema, EndpointService } from "@activity/proto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { lockAccount, readAccount } from "../account/account-store.ts";
import type { Pool, Queryable } from "../database/pool.ts";
import { inTransaction, type Transaction } from "../database/transaction.ts";
import { inOutboxTransaction, type Outbox } from "../dispatch/outbox.ts";
import { DomainError, ErrorCode } from "../errors.ts";
import { newId } from "../ids.ts";
import { encryptSecret, type SecretKeys } from "../signing-secret/secret-cipher.ts";
import { newSigningSecret } from "../signing-secret/signing-secret.ts";
import { timestampFromMicros } from "../timestamps.ts";
import { emitTestEvent } from "../webhook-event/emit-webhook-event.ts";
import { kindBits, kindsFromBits, WebhookEventKind } from "../webhook-event/webhook-event-kind.ts";
import { listRemovableEndpoints, removeEndpoints } from "./deleted-endpoint-store.ts";
import { accountBlocked, endpointNotFound, endpointSwitchedOff } from "./endpoint-errors.ts";
import {
  countEndpoints,
  type EndpointRecord,
  findEndpoint,
  insertEndpoint,
  listEndpoints,
  markEndpointDeleted,
  updateEndpoint,
  updateSecret,
} from "./endpoint-store.ts";
import { parseEndpointUrl } from "./endpoint-url.ts";
import { testEventData } from "./test-event-data.ts";

/** The most endpoints of an account. */
const MAX_ENDPOINTS = 10;
/** The most rows of deleted endpoints that go when one is created: more than one, so that they become fewer. */
const REMOVED_AT_ONCE = 100;

/** What the service needs beside the database. */
export type EndpointSettings = {
  readonly secretKeys: SecretKeys;
  /** The `host:port` of development only. */
  readonly allowedTargets: ReadonlySet<string>;
};

/** Creates the service that manages the endpoints of accounts. §6 */
export function createEndpointService(
  pool: Pool,
  { secretKeys, allowedTargets }: EndpointSettings,
  outbox: Outbox,
): ServiceImpl<typeof EndpointService> {
  /** Changes an endpoint under its account's lock, so that no event sees half of it. */
  async function change(
    { accountId, endpointId }: { accountId: string; endpointId: string },
    fields: Partial<EndpointRecord>,
  ) {
    const endpoint = await inTransaction(pool, async (tx) => {
      const accountNo = await lockAccount(tx, accountId);
      const changed = { ...(await readEndpoint(tx, accountNo, endpointId)), ...fields };
      await updateEndpoint(tx, accountNo, changed);
      return changed;
    });
    return { endpoint: endpointToProto(endpoint) };
  }

  return {
    async createEndpoint(request) {
      const id = newId();
      const secret = newSigningSecret();
      const stored = {
        id,
        url: parseEndpointUrl(request.url, allowedTargets),
        kinds: kindBits(kindsOf(request.kinds?.kinds)),
        standardWebhooks: request.standardWebhooks,
        secret: encryptSecret(secretKeys, id, secret),
      };
      const endpoint = await inTransaction(pool, async (tx) => {
        const accountNo = await lockAccount(tx, request.accountId);
        if ((await countEndpoints(tx, accountNo)) >= MAX_ENDPOINTS) throw limitReached();
        await removeDeleted(tx, accountNo);
        await insertEndpoint(tx, { accountNo, ...stored });
        return readEndpoint(tx, accountNo, id);
      });
      return { endpoint: endpointToProto(endpoint), secret };
    },

    async getEndpoint({ accountId, endpointId }) {
      const { accountNo } = await readAccount(pool, accountId);
      return { endpoint: endpointToProto(await readEndpoint(pool, accountNo, endpointId)) };
    },

    async listEndpoints({ accountId }) {
      const { accountNo } = await readAccount(pool, accountId);
      return { endpoints: (await listEndpoints(pool, accountNo)).map(endpointToProto) };
    },

    updateEndpoint(request) {
      const { url, kinds, standardWebhooks } = request;
      return change(request, {
        ...(url !== undefined && { url: parseEndpointUrl(url, allowedTargets) }),
        ...(kinds !== undefined && { kinds: kindBits(kindsOf(kinds.kinds)) }),
        ...(standardWebhooks !== undefined && { standardWebhooks }),
      });
    },

    switchOnEndpoint: (request) => change(request, { switchedOn: true }),
    switchOffEndpoint: (request) => change(request, { switchedOn: false }),

    async deleteEndpoint({ accountId, endpointId }) {
      await inTransaction(pool, async (tx) => {
        const accountNo = await lockAccount(tx, accountId);
        if (!(await markEndpointDeleted(tx, accountNo, endpointId))) throw endpointNotFound();
      });
      return {};
    },

    async rotateSecret({ accountId, endpointId }) {
      const secret = newSigningSecret();
      await inTransaction(pool, async (tx) => {
        const accountNo = await lockAccount(tx, accountId);
        await readEndpoint(tx, accountNo, endpointId);
        const encrypted = encryptSecret(secretKeys, endpointId, secret);
        await updateSecret(tx, accountNo, endpointId, encrypted);
      });
      return { secret };
    },

    async sendTest({ accountId, endpointId, kind }) {
      const [tested = WebhookEventKind.DonationCreated] = kindsOf([kind]);
      return inOutboxTransaction(pool, outbox, async (tx, writer) => {
        const accountNo = await lockAccount(tx, accountId);
        const { switchedOn } = await readEndpoint(tx, accountNo, endpointId);
        if (!switchedOn) throw endpointSwitchedOff();
        const dataAt = (now: number) => testEventData(tested, now);
        const emitted = await emitTestEvent(tx, writer, accountNo, endpointId, dataAt);
        if (emitted === undefined) throw accountBlocked();
        return emitted;
      });
    },
  };
}

/** Whatever sends looks at every row of an account's endpoints: those of deleted ones do not pile up. */
async function removeDeleted(tx: Transaction, accountNo: number): Promise<void> {
  const ids = await listRemovableEndpoints(tx, accountNo, REMOVED_AT_ONCE);
  if (ids.length > 0) await removeEndpoints(tx, accountNo, ids);
}

async function readEndpoint(db: Queryable, accountNo: number, id: string): Promise<EndpointRecord> {
  const endpoint = await findEndpoint(db, accountNo, id);
  if (endpoint === undefined) throw endpointNotFound();
  return endpoint;
}

/** The kinds of a message, whose numbers are the stored ones; the unspecified one is none. */
function kindsOf(kinds: readonly number[] = []): WebhookEventKind[] {
  return Object.values(WebhookEventKind).filter((kind) => kinds.includes(kind));
}

function limitReached(): DomainError {
  return new DomainError(
    ErrorCode.EndpointLimitReached,
    `The account has ${MAX_ENDPOINTS} endpoints, the most it may have; delete one first.`,
  );
}

function endpointToProto(endpoint: EndpointRecord): MessageInitShape<typeof EndpointSchema> {
  return {
    id: endpoint.id,
    url: endpoint.url,
    kinds: kindsFromBits(endpoint.kinds),
    switchedOn: endpoint.switchedOn,
    standardWebhooks: endpoint.standardWebhooks,
    createdAt: timestampFromMicros(endpoint.createdAt),
  };
}
