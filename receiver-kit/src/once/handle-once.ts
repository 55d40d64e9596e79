import type { WebhookEvent } from "../webhook-event.ts";
import type { OnceOutcome, OnceStore, RecordTime } from "./once-store.ts";

/** The longest id that every store can hold. */
const MAX_EVENT_ID_LENGTH = 255;
/** The longest `<type> <record id>`. A store's key is this text after `record `, and has at most 255 characters. */
const MAX_RECORD_LENGTH = 240;

/**
 * Runs `work` for an event once, even if the event is delivered several times.
 *
 * Answer 2xx to `handled` and `seen_before`. Answer 5xx to the other outcomes, so that the sender retries. If `work`
 * rejects, this releases the claim and rejects with the same error.
 */
export async function handleOnce<Context>(
  store: OnceStore<Context>,
  webhookEvent: WebhookEvent,
  work: (webhookEvent: WebhookEvent, context: Context) => unknown,
): Promise<OnceOutcome> {
  if (webhookEvent.id.length > MAX_EVENT_ID_LENGTH) {
    throw new RangeError(`an event id has at most ${MAX_EVENT_ID_LENGTH} characters`);
  }
  return store.runOnce(
    webhookEvent.id,
    async (context) => {
      await work(webhookEvent, context);
    },
    recordTimeOf(webhookEvent),
  );
}

/**
 * Returns the event's record and time. The record includes the type: an event of another type has other fields, so it
 * does not make this event out of date. A test has no record.
 */
function recordTimeOf({ type, test, created_at: time, data }: WebhookEvent) {
  const record = `${type} ${data?.id}`;
  const hasRecord = !test && typeof data?.id === "string" && record.length <= MAX_RECORD_LENGTH;
  return hasRecord ? ({ record: `record ${record}`, time } satisfies RecordTime) : undefined;
}
