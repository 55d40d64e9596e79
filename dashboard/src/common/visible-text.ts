/** What turns the text around it, or is not seen: with it code can look like other code. */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Writes such characters as JSON escapes them, so that the meaning of JSON stays. */
export function visibleText(text: string): string {
  return text.replace(UNSEEN, (character) =>
    // By halves: some need two.
    Array.from({ length: character.length }, (_, index) =>
      escaped(character.charCodeAt(index)),
    ).join(""),
  );
}

function escaped(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, "0")}`;
}
