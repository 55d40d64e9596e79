import type { DescEnum } from "@bufbuild/protobuf";

/** Lists the values of an enum that a caller may choose, for a message. 0 chooses none. */
export function enumNames(
  { values }: DescEnum,
  isAccepted: (value: number) => boolean = () => true,
): string {
  const chosen = values.filter(({ number }) => number !== 0 && isAccepted(number));
  return chosen.map(({ name }) => name).join(", ");
}
