import { RadioField } from "../common/radio-field.tsx";
import { texts } from "../texts.ts";

/** The validities that the owner can choose, in days. Contract 2.7. */
const VALIDITIES = [30, 90, 365];
export const [USUAL_VALIDITY, LONGEST_VALIDITY] = [90, 365];

/** The choice of a key's validity. */
export function ValidityField(props: { days: number; onChange: (days: number) => void }) {
  return (
    <RadioField
      label={texts.keys.validity}
      value={String(props.days)}
      choices={VALIDITIES.map((days) => ({ value: String(days), text: texts.keys.days(days) }))}
      onChange={(value) => props.onChange(Number(value))}
    />
  );
}
