/** Formats numbers and times; the language of all texts. */
export const LOCALE = "en-GB";

/** Words for the values of an enum; a server that is newer than the page may know further values. */
export type Words = Readonly<Record<number, string | undefined>>;

/** Writes how many there are of something. */
export function many(count: number, one: string, more: string): string {
  return `${count.toLocaleString(LOCALE)} ${count === 1 ? one : more}`;
}
