import type { DescEnum } from "@bufbuild/protobuf";

/** Lists for an error message which of an enum's values a caller may choose. Leaves out 0, which means no choice. */
export function enumNames(
  { values }: DescEnum,
  isAccepted: (value: number) => boolean = () => true,
): string {
  const chosen = values.filter(({ number }) => number !== 0 && isAccepted(number));
  return chosen.map(({ name }) => name).join(", ");
}
