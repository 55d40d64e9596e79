import type { WebhookEvent } from "../webhook-event.ts";
import type { OnceOutcome, OnceStore, RecordTime } from "./once-store.ts";

/** The longest id that every store holds whole. */
const MAX_EVENT_ID_LENGTH = 255;
const MAX_RECORD_ID_LENGTH = 200;

/**
 * Runs `work` for an event once, however often it is delivered.
 *
 * Answer 2xx to `handled` and `seen_before`, and 5xx to all else, so that the sender tries again.
 * Rejects with what `work` rejects with, after giving the claim back.
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

/** Tests are of no record. */
function recordTimeOf({ test, created_at: time, data }: WebhookEvent): RecordTime | undefined {
  const isKnown = !test && typeof data?.id === "string" && data.id.length <= MAX_RECORD_ID_LENGTH;
  return isKnown ? { record: `record ${data.id}`, time } : undefined;
}
