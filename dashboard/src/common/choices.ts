import { texts } from "../texts.ts";

/** Returns a filter's choices for an enum: "All" first, then each value that has a text. */
export function choicesOf<Value extends number>(
  words: Readonly<Record<number, string | undefined>>,
): { readonly value: Value; readonly text: string }[] {
  return Object.entries(words).map(([number, text]) => ({
    value: Number(number) as Value, // The keys are values of the enum.
    text: text || texts.all,
  }));
}
