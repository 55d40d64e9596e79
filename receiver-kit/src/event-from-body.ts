import { VerificationError } from "./verification-error.ts";
import type { WebhookEvent } from "./webhook-event.ts";

// The decoder throws at invalid UTF-8. It keeps a byte order mark, so that JSON.parse refuses the body.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Parses the event of a body whose signature was checked.
 *
 * It compares the header with the id of the object that it returns. So a body with duplicate keys cannot show one id to
 * this check and another to the receiver. Throws `not_json`, `not_an_event` or `id_mismatch`.
 */
export function eventFromBody(body: Uint8Array, headerEventId: string): WebhookEvent {
  const parsed = parseJson(body);
  if (!isEnvelope(parsed)) throw new VerificationError("not_an_event");
  if (parsed.id !== headerEventId) throw new VerificationError("id_mismatch");
  return parsed;
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(body));
  } catch {
    // Leaves out the parser's message, because it would quote the body.
    throw new VerificationError("not_json");
  }
}

/** Checks the fields that every kind has. The content of `data` depends on the kind. */
function isEnvelope(value: unknown): value is WebhookEvent {
  return (
    isRecord(value) &&
    typeof value.id === "string" &&
    typeof value.type === "string" &&
    typeof value.created_at === "string" &&
    // Anything but a boolean could make a test look real.
    typeof value.test === "boolean" &&
    isRecord(value.data)
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
