/** An event that a command sends again, and its target. */
export type Replay = { readonly url: string; readonly eventId: string; readonly body: string };

/**
 * Returns a shell script that signs the event now with `WEBHOOK_SECRET` and sends it with curl. The dashboard does not
 * know the signing secret.
 */
export function curlScript({ url, eventId, body }: Replay): string {
  return [
    `body=${quoted(body)}`,
    "at=$(date +%s)",
    `signature=$(printf %s "$at.${eventId}.$body" | openssl dgst -sha256 -hmac "$WEBHOOK_SECRET" | sed 's/^.*= *//')`,
    `curl -g -i ${quoted(url)} \\`,
    "  -H 'Content-Type: application/json' \\",
    `  -H 'Service-Event-Id: ${eventId}' \\`,
    '  -H "Service-Timestamp: $at" \\',
    "  -H 'Service-Attempt: 1' \\",
    '  -H "Service-Signature: v1=$signature" \\',
    '  --data-raw "$body"',
  ].join("\n");
}

/** Returns the receiver-kit command that does the same. */
export function kitCommand({ url, body }: Replay): string {
  return `printf %s ${quoted(body)} | npx receiver-kit send ${quoted(url)} --body -`;
}

/** Quotes a text as one word of a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
