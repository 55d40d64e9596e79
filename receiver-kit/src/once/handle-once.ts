import type { WebhookEvent } from "../webhook-event.ts";
import type { OnceOutcome, OnceStore, RecordTime } from "./once-store.ts";

/** The longest id that every store can hold. */
const MAX_EVENT_ID_LENGTH = 255;
const MAX_RECORD_ID_LENGTH = 200;

/**
 * Runs `work` for an event once, however often the event is delivered.
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

/** Returns the event's record and time. Tests belong to no record. */
function recordTimeOf({ test, created_at: time, data }: WebhookEvent): RecordTime | undefined {
  const hasRecord = !test && typeof data?.id === "string" && data.id.length <= MAX_RECORD_ID_LENGTH;
  return hasRecord ? { record: `record ${data.id}`, time } : undefined;
}
