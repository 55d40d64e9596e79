import { many } from "./words.ts";

/** The page of API keys. */
export const keys = {
  intro: "A key reads this account's activity over HTTP. Use one for each integration.",
  create: "Create key",
  empty: "No active key",
  emptyText: "Create one for each tool that reads your activity.",
  inactive: (count: number) => many(count, "expired or revoked key", "expired or revoked keys"),
  name: "Name",
  nameHint: "What the key is for. 1 to 100 characters.",
  nameMissing: "Give the key a name.",
  prefix: "Key",
  validity: "Validity",
  days: (days: number) => many(days, "day", "days"),
  createdAt: "Created",
  expiresAt: "Valid until",
  lastUsedAt: "Last used",
  lastUsedHint: "Accurate to about an hour.",
  soon: (days: number) => (days < 1 ? "ends within a day" : `ends in ${many(days, "day", "days")}`),
  expired: "Expired",
  revoked: "Revoked",
  renew: "Renew",
  renewTitle: "Renew key",
  renewText:
    "The key gets a new end, counted from now. Its text stays the same, so no client needs a change.",
  newEnd: "It will be valid until",
  earlierEnd: "Warning: this shortens the key's life. Now it is valid until",
  revoke: "Revoke",
  revokeTitle: "Revoke this key?",
  revokeText:
    "Clients that use it stop working at once. You can't undo this. Create a new key and change your clients first.",
  createdTitle: "Your new key",
  secret: "API key",
  tryIt: "Try it",
  /**
   * The command asks for the key, so that the shell's history and the list of processes do not hold it. It is one
   * command, because the shell must read all its lines before `read` waits.
   */
  curl: (apiUrl: string) =>
    `echo "Paste the key and press Enter." && read -rs ACTIVITY_KEY &&
  printf 'Authorization: Bearer %s' "$ACTIVITY_KEY" |
  curl --header @- "${apiUrl || "$BASE_URL"}/activity?limit=5"`,
  curlBaseUrl: "BASE_URL is the API's address and ends in /api/v1.",
  curlHint: "Keep keys out of web pages, URLs, logs and version control.",
} as const;
