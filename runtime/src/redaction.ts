// The only list of what logs and terminals must not show (SECURITY.md). Every process logs through it.

const SECRET = "[secret]";

/** Patterns that are replaced in any text. */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, SECRET],
  [/\b(authorization|cookie)\b["']?\s*[:=]\s*["']?(\w+\s+)?[^\s"',;]+/gi, `$1: ${SECRET}`],
  [/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${SECRET}`],
  // API keys, service credentials and signing secrets.
  [/\b[a-z][a-z0-9]*_(live|svc)_\w+/g, SECRET],
  [/\bwhsec_[\w+/=-]+/g, SECRET],
  [
    /\b(password|secret|token|credential|api[-_]?key)["']?\s*[:=]\s*["']?[^\s"',;&]+/gi,
    `$1=${SECRET}`,
  ],
  // A password may hold any character but a space or a quote. A URL `file:///` has no password.
  [/\b([a-z][a-z0-9+.-]*:\/\/)(?!\/)[^\s"']*@/gi, `$1${SECRET}@`],
  // Receivers keep secrets in paths and queries.
  [/\b(https?:\/\/[^\s"'/?#]+)[/?#][^\s"']*/gi, `$1/${SECRET}`],
  // Tokens of any kind: JSON Web Tokens, cursors (56 characters), keys in hexadecimal (64).
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, SECRET],
  [/(?<![\w-])[\w-]{40,}(?![\w-])/g, SECRET],
];

/**
 * A text that matches none of these matches none of `PATTERNS`. This check is 20 times as fast, and most logged texts
 * match none.
 */
const SUSPICIOUS = [
  /[:=@]|_(?:live|svc)_|whsec_|eyJ|-----|[Bb][Ee][Aa][Rr][Ee][Rr]|[Bb][Aa][Ss][Ii][Cc]/,
  /[\w-]{40}/,
];

/** Names of fields whose values are never shown: secrets, and people's names and texts. */
const CONFIDENTIAL_FIELDS: ReadonlySet<string> = new Set([
  ...["authorization", "cookie", "password", "secret", "signingsecret", "credential", "apikey"],
  ...[
    "servicecredential",
    "token",
    "cursor",
    "nextcursor",
    "url",
    "payload",
    "body",
    "responsebody",
    "responseheaders",
  ],
  ...["donorname", "actorname", "username", "displayname", "donormessage"],
]);
const MAX_FRAMES = 8;

/** Replaces everything in a text that looks like a secret. */
export function redactText(text: string): string {
  if (!SUSPICIOUS.some((pattern) => pattern.test(text))) return text;
  return PATTERNS.reduce((left, [pattern, shown]) => left.replace(pattern, shown), text);
}

/**
 * Redacts a value, as the replacer of `JSON.stringify`. An error becomes its class, its code and its stack. Its message
 * is left out, because it can hold an SQL statement with its values, or what a client sent. Bytes are not shown.
 */
export function redact(name: string, value: unknown): unknown {
  if (value === undefined || value === null) return value;
  if (CONFIDENTIAL_FIELDS.has(name.replace(/[-_]/g, "").toLowerCase())) return SECRET;
  if (value instanceof Error) {
    const at = value.stack?.split("\n").filter((line) => /^\s+at /.test(line));
    const code = "code" in value ? value.code : undefined;
    return { name: value.name, code, at: at?.slice(0, MAX_FRAMES) };
  }
  // The name of a service credential can look like a credential, but is too short to be one.
  if (typeof value === "string") return name === "caller" ? value : redactText(value);
  if (typeof value === "bigint") return value.toString();
  return isBytes(value) ? SECRET : value;
}

/** Returns whether a value is bytes. A replacer sees a Buffer only in its JSON form. */
function isBytes(value: unknown): boolean {
  if (ArrayBuffer.isView(value)) return true;
  return typeof value === "object" && value !== null && "type" in value && value.type === "Buffer";
}
