import { DomainError, ErrorCode } from "./errors.ts";

/** Maximum characters of an external id. */
export const EXTERNAL_ID_MAX = 128;
/** Maximum characters of a supporter's name. */
export const NAME_MAX = 200;
/** Maximum characters of a supporter's text. */
export const MESSAGE_MAX = 4000;

/**
 * Returns `text` if it can be stored exactly. Fails with `invalid_parameter`, naming `field`, if it holds half of a
 * surrogate pair, which no encoding keeps.
 */
export function parseStoredText(text: string, field: string): string {
  if (text.isWellFormed()) return text;
  throw new DomainError(
    ErrorCode.InvalidParameter,
    `${field} accepts well-formed Unicode: every surrogate in its pair.`,
  );
}

/** Like `parseStoredText`, for a text that may be absent. */
export function parseOptionalText(text: string | undefined, field: string): string | undefined {
  return text === undefined ? undefined : parseStoredText(text, field);
}

/** Converts an external id to bytes for storage, because the database compares bytes exactly. */
export function externalIdBytes(externalId: string, field: string): Buffer {
  return Buffer.from(parseStoredText(externalId, field), "utf8");
}

/** Tells whether `text` has at most `max` characters: code points, as the database counts. */
export function hasAtMost(text: string, max: number): boolean {
  if (text.length <= max) return true;
  if (text.length > 2 * max) return false;
  let characters = 0;
  for (const _ of text) characters++;
  return characters <= max;
}
