/**
 * Escapes control characters and direction marks as JSON does, but keeps line feeds. Such characters can change a
 * terminal, or reverse the text after them. `@activity/feed` has a copy, because it imports no other package.
 */
export function escapeControls(text: string): string {
  return text.replace(
    /(?!\n)[\p{Cc}\p{Bidi_Control}]/gu,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
