/** Escapes control characters, which can change a terminal, as JSON would. Line ends stay. */
export function escapeControls(text: string): string {
  return text.replace(
    /(?!\n)\p{Cc}/gu,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
