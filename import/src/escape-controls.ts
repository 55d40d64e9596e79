/**
 * Escapes, in JSON's form, control characters, which can change a terminal, and marks that can reverse the text after
 * them. Line feeds stay. `@activity/feed` has the same function, because it imports no other package.
 */
export function escapeControls(text: string): string {
  return text.replace(
    /(?!\n)[\p{Cc}\p{Bidi_Control}]/gu,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
