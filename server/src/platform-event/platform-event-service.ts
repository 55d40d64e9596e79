import type {
  Platform,
  PlatformEventSchema,
  PlatformEventService,
  RecordPlatformEventRequest,
} from "@activity/proto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  hideActivity,
  platformEventRecordKey,
  showActivity,
} from "../activity/activity-feed-store.ts";
import { DomainError, ErrorCode } from "../common/errors.ts";
import { externalIdBytes, parseOptionalText } from "../common/stored-text.ts";
import { timestampFromMicros } from "../common/timestamps.ts";
import type { Decision } from "../write/write.ts";
import type { Writer } from "../write/writer.ts";
import { type PlatformEventValue, platformEventValue } from "./platform-event.ts";
import {
  markPlatformEventDeleted,
  type PlatformEventRecord,
  platformEventsBy,
  storePlatformEvent,
} from "./platform-event-store.ts";

/** A new platform event with the fields that only its feed row stores. */
type NewPlatformEvent = PlatformEventValue & {
  readonly actorName: string | undefined;
  readonly message: string | undefined;
  readonly test: boolean;
};

export function createPlatformEventService({
  write,
}: Writer): ServiceImpl<typeof PlatformEventService> {
  return {
    async recordPlatformEvent(request) {
      const { accountId, platform } = request;
      const externalId = externalIdBytes(request.externalId, "external_id");
      const created = newPlatformEvent(request);
      const stored = await write({
        accountId,
        touches: [nameOf(platform, externalId)],
        load: (accountNo) => ({ event: platformEventsBy([accountNo, platform, externalId]) }),
        decide({ event: [existing] }, { accountNo, recordedAt, newId }) {
          if (existing !== undefined) return { answer: existing };
          const key = { accountNo, platform, externalId, recordId: newId() };
          return record({ ...key, recordedAt, test: created.test, deleted: false }, created);
        },
      });
      return { platformEvent: platformEventToProto(stored) };
    },

    async deletePlatformEvent({ accountId, platform, externalId }) {
      const bytes = externalIdBytes(externalId, "external_id");
      await write({
        accountId,
        touches: [nameOf(platform, bytes)],
        load: (accountNo) => ({ event: platformEventsBy([accountNo, platform, bytes]) }),
        decide({ event: [stored] }) {
          if (stored === undefined) throw platformEventNotFound();
          return remove(stored);
        },
      });
      return {};
    },
  };
}

function nameOf(platform: number, externalId: Buffer): string {
  return `platform event ${platform} ${externalId.toString("latin1")}`;
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

function record(
  stored: PlatformEventRecord,
  { test, ...shown }: NewPlatformEvent,
): Decision<PlatformEventRecord> {
  const { platform, recordedAt } = stored;
  const activity = {
    ...shown,
    ...activityKey(stored),
    platform,
    occurredAt: recordedAt,
    refundedAmountCents: undefined,
  };
  const feed = test ? [] : [showActivity(activity)];
  return { answer: stored, changes: [storePlatformEvent(stored)], feed };
}

/** Deletes a platform event. Its text is only in its feed row, so hiding it from the feed deletes the text. */
function remove(stored: PlatformEventRecord): Decision<void> {
  if (stored.deleted) return { answer: undefined };
  const feed = [hideActivity(activityKey(stored))];
  return { answer: undefined, changes: [markPlatformEventDeleted(stored)], feed };
}

function activityKey({ accountNo, recordedAt, recordId }: PlatformEventRecord) {
  return { accountNo, recordedAt, recordKey: platformEventRecordKey(recordId) };
}

function platformEventToProto(
  stored: PlatformEventRecord,
): MessageInitShape<typeof PlatformEventSchema> {
  return {
    recordId: stored.recordId,
    // The stored number came from a Platform.
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
