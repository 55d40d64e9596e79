/** An event that a command sends again, and its target. */
export type Replay = { readonly url: string; readonly eventId: string; readonly body: string };

/**
 * A command that prints the signature of its input. It reads the signing secret from its environment. It uses Perl,
 * which macOS has, and which Debian gets with Git.
 */
const SIGN = `perl -MDigest::SHA=hmac_sha256_hex -0777 -ne 'print hmac_sha256_hex($_, $ENV{WEBHOOK_SECRET})'`;

/**
 * Returns a shell script that signs the event now with `WEBHOOK_SECRET` and sends it with curl. The dashboard does not
 * know the signing secret. No program has the secret or the body as an argument, because other users of the machine can
 * see arguments.
 */
export function curlScript({ url, eventId, body }: Replay): string {
  return [
    `body=${quoted(body)}`,
    "at=$(date +%s)",
    `signature=$(printf %s "$at.${eventId}.$body" | WEBHOOK_SECRET="$WEBHOOK_SECRET" ${SIGN}) &&`,
    `  printf %s "$body" | curl -g -i ${quoted(url)} \\`,
    "  -H 'Content-Type: application/json' \\",
    `  -H 'Service-Event-Id: ${eventId}' \\`,
    '  -H "Service-Timestamp: $at" \\',
    "  -H 'Service-Attempt: 1' \\",
    '  -H "Service-Signature: v1=$signature" \\',
    "  --data-binary @-",
  ].join("\n");
}

/** Returns the receiver-kit command that does the same. */
export function kitCommand({ url, body }: Replay): string {
  return `printf %s ${quoted(body)} | npx receiver-kit send ${quoted(url)} --body -`;
}

/** Quotes a text as one word of a POSIX shell. `printf` makes the control characters that JSON does not escape. */
function quoted(text: string): string {
  // A terminal takes a pasted DEL as the backspace key, which deletes the opening quote.
  const typed = text
    .replaceAll("'", "'\\''")
    .replaceAll(/[\x7f-\x9f]+/g, (controls) => `'"$(printf '${octal(controls)}')"'`);
  return `'${typed}'`;
}

/** Writes a text's UTF-8 bytes as escapes of `printf`. */
function octal(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => `\\${byte.toString(8)}`).join("");
}
