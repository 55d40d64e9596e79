import type { EndpointHourSchema, EndpointSchema, EndpointService } from "@activity/proto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { readAccount } from "../account/account-store.ts";
import { throwIfGone } from "../common/caller-gone.ts";
import { DomainError, ErrorCode } from "../common/errors.ts";
import { newId } from "../common/ids.ts";
import { parseOptionalText, parseStoredText } from "../common/stored-text.ts";
import { durationFromMicros, requiredMicros, timestampFromMicros } from "../common/timestamps.ts";
import type { Pool } from "../database/pool.ts";
import {
  DURATION_BOUNDS_MS,
  listHours,
  type StatHour,
} from "../delivery-stat/delivery-stat-store.ts";
import { encryptSecret, type SecretKeys } from "../signing-secret/secret-cipher.ts";
import { newSigningSecret } from "../signing-secret/signing-secret.ts";
import { newTestEvent } from "../webhook-event/new-webhook-event.ts";
import { kindBits, kindsFromBits, WebhookEventKind } from "../webhook-event/webhook-event-kind.ts";
import { receivingEndpointsOf } from "../webhook-event/webhook-event-store.ts";
import type { LockedAccount } from "../write/locked-account.ts";
import type { Decision } from "../write/write.ts";
import type { Writer } from "../write/writer.ts";
import { removableEndpointsOf, removeEndpoints } from "./deleted-endpoint-store.ts";
import {
  accountBlocked,
  endpointNotFound,
  endpointSwitchedOff,
  rotationNotPending,
  rotationPending,
} from "./endpoint-errors.ts";
import {
  deleteNextSecret,
  type EndpointRecord,
  endpointsOf,
  findEndpoint,
  listEndpoints,
  markEndpointDeleted,
  storeEndpoint,
  storeNextSecret,
  updateEndpoint,
  updateSecret,
} from "./endpoint-store.ts";
import { parseEndpointUrl } from "./endpoint-url.ts";
import { MAX_ENDPOINTS, withTestAt } from "./owner-limits.ts";
import { storeTestTimes, testTimesOf } from "./owner-limits-store.ts";
import { parseSignsFrom } from "./signs-from.ts";
import { testEventData } from "./test-event-data.ts";

type EndpointKey = { readonly accountId: string; readonly endpointId: string };

export type EndpointSettings = {
  readonly secretKeys: SecretKeys;
  /** Additional `host:port` targets, for development only. */
  readonly allowedTargets: ReadonlySet<string>;
};

/** Creates the service that manages the endpoints of accounts. §6 */
export function createEndpointService(
  pool: Pool,
  { write }: Writer,
  { secretKeys, allowedTargets }: EndpointSettings,
): ServiceImpl<typeof EndpointService> {
  /** Decides from the stored endpoint under its account's lock, so that no event sees half of a change. */
  function writeEndpoint<Answer>(
    { accountId, endpointId }: EndpointKey,
    decide: (stored: EndpointRecord, account: LockedAccount) => Decision<Answer>,
  ): Promise<Answer> {
    return write({
      accountId,
      load: (accountNo) => ({ endpoints: endpointsOf([accountNo]) }),
      decide({ endpoints }, account) {
        const stored = endpoints.find(({ id }) => id === endpointId);
        if (stored === undefined) throw endpointNotFound();
        return decide(stored, account);
      },
    });
  }

  async function change(key: EndpointKey, fields: Partial<EndpointRecord>) {
    const endpoint = await writeEndpoint(key, (stored, { accountNo }) => {
      const changed = { ...stored, ...fields };
      return { answer: changed, changes: [updateEndpoint(accountNo, changed)] };
    });
    return { endpoint: endpointToProto(endpoint) };
  }

  return {
    async createEndpoint(request, { signal }) {
      const id = newId();
      const secret = newSigningSecret();
      const fields = {
        id,
        name: parseStoredText(request.name, "name"),
        url: parseEndpointUrl(request.url, allowedTargets),
        kinds: kindBits(kindsOf(request.kinds?.kinds)),
        standardWebhooks: request.standardWebhooks,
        minAmountCents: Number(request.minAmountCents),
      };
      const encrypted = encryptSecret(secretKeys, id, secret);
      const endpoint = await write({
        accountId: request.accountId,
        load: (accountNo) => ({
          endpoints: endpointsOf([accountNo]),
          // A write with events reads all endpoint rows of the account, so rows of deleted ones must not accumulate.
          removable: removableEndpointsOf([accountNo]),
        }),
        decide({ endpoints, removable }, { accountNo, nowMicros: createdAt }) {
          // Rejects if the caller has gone, because it would not learn this secret.
          throwIfGone(signal);
          if (endpoints.length >= MAX_ENDPOINTS) throw limitReached();
          const stored = storeEndpoint({ ...fields, accountNo, secret: encrypted, createdAt });
          const removed = removable.length > 0 ? [removeEndpoints(accountNo, removable)] : [];
          const answer = { ...fields, switchedOn: true, createdAt, nextSecretFrom: undefined };
          return { answer, changes: [stored, ...removed] };
        },
      });
      return { endpoint: endpointToProto(endpoint), secret };
    },

    async getEndpoint({ accountId, endpointId }) {
      const { accountNo } = await readAccount(pool, accountId);
      const endpoint = await findEndpoint(pool, accountNo, endpointId);
      if (endpoint === undefined) throw endpointNotFound();
      return { endpoint: endpointToProto(endpoint) };
    },

    async listEndpoints({ accountId }) {
      const { accountNo } = await readAccount(pool, accountId);
      return { endpoints: (await listEndpoints(pool, accountNo)).map(endpointToProto) };
    },

    async getEndpointStats({ accountId, endpointId, since }) {
      const { accountNo } = await readAccount(pool, accountId);
      const endpoint = await findEndpoint(pool, accountNo, endpointId);
      if (endpoint === undefined) throw endpointNotFound();
      const from = requiredMicros(since, "since");
      const hours = await listHours(pool, accountNo, endpointId, from);
      return { hours: hours.map(hourToProto), durationBoundsMs: [...DURATION_BOUNDS_MS] };
    },

    updateEndpoint(request) {
      const { name, url, kinds, standardWebhooks, minAmountCents } = request;
      return change(request, {
        ...(name !== undefined && { name: parseStoredText(name, "name") }),
        ...(url !== undefined && { url: parseEndpointUrl(url, allowedTargets) }),
        ...(kinds !== undefined && { kinds: kindBits(kindsOf(kinds.kinds)) }),
        ...(standardWebhooks !== undefined && { standardWebhooks }),
        ...(minAmountCents !== undefined && { minAmountCents: Number(minAmountCents) }),
      });
    },

    switchOnEndpoint: (request) => change(request, { switchedOn: true }),
    switchOffEndpoint: (request) => change(request, { switchedOn: false }),

    deleteEndpoint: (request) =>
      writeEndpoint(request, ({ id }, { accountNo, nowMicros }) => ({
        answer: {},
        changes: [markEndpointDeleted(accountNo, id, nowMicros)],
      })),

    async rotateSecret(request, { signal }) {
      const secret = newSigningSecret();
      const encrypted = encryptSecret(secretKeys, request.endpointId, secret);
      const endpoint = await writeEndpoint(request, (stored, { accountNo, nowMicros }) => {
        // Rejects if the caller has gone: it would not learn this secret, and may have rotated again through another
        // core.
        throwIfGone(signal);
        // The receiver may already have the pending secret, and would refuse signatures of another one.
        if (stored.nextSecretFrom !== undefined) throw rotationPending();
        const nextSecretFrom = parseSignsFrom(request.signsFrom, nowMicros);
        const change =
          nextSecretFrom === undefined
            ? updateSecret(accountNo, stored.id, encrypted)
            : storeNextSecret(accountNo, stored.id, encrypted, nextSecretFrom);
        return { answer: { ...stored, nextSecretFrom }, changes: [change] };
      });
      return { secret, endpoint: endpointToProto(endpoint) };
    },

    async cancelRotation(request) {
      const endpoint = await writeEndpoint(request, (stored, { accountNo }) => {
        if (stored.nextSecretFrom === undefined) throw rotationNotPending();
        const answer = { ...stored, nextSecretFrom: undefined };
        return { answer, changes: [deleteNextSecret(accountNo, stored.id)] };
      });
      return { endpoint: endpointToProto(endpoint) };
    },

    sendTest({ accountId, endpointId, kind, amountCents, donorName, message }) {
      const [tested = WebhookEventKind.DonationCreated] = kindsOf([kind]);
      const donation = {
        amountCents: amountCents === undefined ? undefined : Number(amountCents),
        donorName: parseOptionalText(donorName, "donor_name"),
        message: parseOptionalText(message, "message"),
      };
      return write({
        accountId,
        load: (accountNo) => ({
          endpoints: receivingEndpointsOf([accountNo]),
          testTimes: testTimesOf([accountNo]),
        }),
        decide({ endpoints, testTimes: [before = []] }, account) {
          const endpoint = endpoints.find(({ id }) => id === endpointId);
          if (endpoint === undefined) throw endpointNotFound();
          if (!endpoint.switchedOn) throw endpointSwitchedOff();
          if (account.blocked) throw accountBlocked();
          const times = storeTestTimes(account.accountNo, withTestAt(account.nowMicros, before));
          const data = testEventData(tested, account.nowMicros, donation);
          const event = newTestEvent(account, endpoint, data);
          const deliveryId = event.deliveries[0]?.id ?? "";
          return { answer: { deliveryId, eventId: event.id }, changes: [times], events: [event] };
        },
      });
    },
  };
}

/** Converts the kinds of a message. Their numbers equal the stored ones; an unspecified kind is dropped. */
function kindsOf(kinds: readonly number[] = []): WebhookEventKind[] {
  return Object.values(WebhookEventKind).filter((kind) => kinds.includes(kind));
}

function limitReached(): DomainError {
  return new DomainError(
    ErrorCode.EndpointLimitReached,
    `The account has ${MAX_ENDPOINTS} endpoints, which is the maximum; delete one first.`,
  );
}

function endpointToProto(endpoint: EndpointRecord): MessageInitShape<typeof EndpointSchema> {
  const { kinds, minAmountCents, createdAt, nextSecretFrom, ...same } = endpoint;
  return {
    ...same,
    kinds: kindsFromBits(kinds),
    minAmountCents: BigInt(minAmountCents),
    createdAt: timestampFromMicros(createdAt),
    ...(nextSecretFrom !== undefined && {
      nextSecretSignsFrom: timestampFromMicros(nextSecretFrom),
    }),
  };
}

function hourToProto(hour: StatHour): MessageInitShape<typeof EndpointHourSchema> {
  return {
    beganAt: timestampFromMicros(hour.beganAt),
    delivered: BigInt(hour.delivered),
    failed: BigInt(hour.failed),
    totalDuration: durationFromMicros(hour.totalDuration),
    longestDuration: durationFromMicros(hour.longestDuration),
    redirects: BigInt(hour.redirects),
    clientErrors: BigInt(hour.clientErrors),
    serverErrors: BigInt(hour.serverErrors),
    unanswered: BigInt(hour.unanswered),
    durations: hour.durations.map(BigInt),
  };
}
