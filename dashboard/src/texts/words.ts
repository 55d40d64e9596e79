/** The locale of all texts, numbers and times. */
export const LOCALE = "en-GB";

/** The words for the values of an enum. A newer server may send values that this page does not know. */
export type Words = Readonly<Record<number, string | undefined>>;

/** Returns a number of things, such as `2 keys`. */
export function many(count: number, one: string, more: string): string {
  return `${count.toLocaleString(LOCALE)} ${count === 1 ? one : more}`;
}
