/** Characters that are invisible, or that change the direction of text. They can make code look like other code. */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Replaces invisible and direction-changing characters with JSON escapes, so JSON keeps its meaning. */
export function visibleText(text: string): string {
  return text.replace(UNSEEN, (character) =>
    // A JSON escape stands for one UTF-16 unit, and some characters have two.
    Array.from({ length: character.length }, (_, index) =>
      escaped(character.charCodeAt(index)),
    ).join(""),
  );
}

function escaped(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, "0")}`;
}
