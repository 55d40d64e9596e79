import type {
  Platform,
  PlatformEventSchema,
  PlatformEventService,
  RecordPlatformEventRequest,
} from "@activity/proto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { advanceFeedClock, lockAccount } from "../account/account-store.ts";
import type { Pool } from "../database/pool.ts";
import { inTransaction, type Transaction } from "../database/transaction.ts";
import { DomainError, ErrorCode } from "../errors.ts";
import { newId } from "../ids.ts";
import { externalIdBytes, parseOptionalText } from "../stored-text.ts";
import { timestampFromMicros } from "../timestamps.ts";
import { deleteActivity, insertActivities, platformEventRecordKey } from "./activity-feed-store.ts";
import { type PlatformEventValue, platformEventValue } from "./platform-event.ts";
import {
  findPlatformEvent,
  insertPlatformEvent,
  markPlatformEventDeleted,
  type PlatformEventKey,
  type PlatformEventRecord,
} from "./platform-event-store.ts";

/** A platform event with what only its row of the feed holds. */
type NewPlatformEvent = PlatformEventValue & {
  readonly actorName: string | undefined;
  readonly message: string | undefined;
  readonly test: boolean;
};

/** Creates the service that writes what platform connections receive. */
export function createPlatformEventService(pool: Pool): ServiceImpl<typeof PlatformEventService> {
  return {
    async recordPlatformEvent(request) {
      const { platform } = request;
      const externalId = externalIdBytes(request.externalId, "external_id");
      const created = newPlatformEvent(request);
      const stored = await inTransaction(pool, async (tx) => {
        const accountNo = await lockAccount(tx, request.accountId);
        const key = { accountNo, platform, externalId };
        return (await findPlatformEvent(tx, key)) ?? (await record(tx, key, created));
      });
      return { platformEvent: platformEventToProto(stored) };
    },

    async deletePlatformEvent({ accountId, platform, externalId }) {
      const bytes = externalIdBytes(externalId, "external_id");
      await inTransaction(pool, async (tx) => {
        const accountNo = await lockAccount(tx, accountId);
        const stored = await findPlatformEvent(tx, { accountNo, platform, externalId: bytes });
        if (stored === undefined) throw platformEventNotFound();
        await remove(tx, stored);
      });
      return {};
    },
  };
}

function newPlatformEvent(request: RecordPlatformEventRequest): NewPlatformEvent {
  const { kind, platform, actorName, message, test } = request;
  if (kind.case === undefined) {
    throw new DomainError(ErrorCode.InvalidParameter, "kind is required: one of its fields.");
  }
  return {
    ...platformEventValue(kind, platform),
    actorName: parseOptionalText(actorName, "actor_name"),
    message: parseOptionalText(message, "message"),
    test,
  };
}

async function record(
  tx: Transaction,
  key: PlatformEventKey,
  { test, ...shown }: NewPlatformEvent,
): Promise<PlatformEventRecord> {
  const recordedAt = await advanceFeedClock(tx, key.accountNo);
  const stored = { ...key, recordId: newId(), recordedAt, test, deleted: false };
  await insertPlatformEvent(tx, stored);
  if (!test) {
    await insertActivities(tx, [
      {
        ...shown,
        ...activityKey(stored),
        platform: key.platform,
        occurredAt: recordedAt,
        refundedAmountCents: undefined,
      },
    ]);
  }
  return stored;
}

/** Its text goes with its row of the feed: nothing else holds it. */
async function remove(tx: Transaction, stored: PlatformEventRecord): Promise<void> {
  if (stored.deleted) return;
  await markPlatformEventDeleted(tx, stored);
  await deleteActivity(tx, activityKey(stored));
}

function activityKey({ accountNo, recordedAt, recordId }: PlatformEventRecord) {
  return { accountNo, recordedAt, recordKey: platformEventRecordKey(recordId) };
}

function platformEventToProto(
  stored: PlatformEventRecord,
): MessageInitShape<typeof PlatformEventSchema> {
  return {
    recordId: stored.recordId,
    // It came as a Platform, and is read back by that very number.
    platform: stored.platform as Platform,
    externalId: stored.externalId.toString("utf8"),
    recordedAt: timestampFromMicros(stored.recordedAt),
    visible: !stored.test && !stored.deleted,
  };
}

function platformEventNotFound(): DomainError {
  return new DomainError(
    ErrorCode.PlatformEventNotFound,
    "The account has no event of this platform with this external_id.",
  );
}
