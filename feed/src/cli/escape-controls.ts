/**
 * Escapes control characters and direction marks as JSON does, but keeps line feeds. These characters can change a
 * terminal, or reverse the text after them.
 */
export function escapeControls(text: string): string {
  return text.replace(
    /(?!\n)[\p{Cc}\p{Bidi_Control}]/gu,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
