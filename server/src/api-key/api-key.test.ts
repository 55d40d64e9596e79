import { expect, it } from "vitest";
import { isApiKeyText, newApiKey } from "./api-key.ts";

it.each([
  ["shorter", (text: string) => text.slice(0, -1)],
  ["longer", (text: string) => `${text}0`],
  ["in capitals", (text: string) => text.toUpperCase()],
  ["with a line break", (text: string) => `${text}\n`],
  ["of another kind", (text: string) => text.replace("_live_", "_svc_")],
  ["with a space before it", (text: string) => ` ${text}`],
])("does not take a text %s for a key", (_, change) => {
  const { secret } = newApiKey();
  expect(isApiKeyText(secret)).toBe(true);
  expect(isApiKeyText(change(secret))).toBe(false);
});
