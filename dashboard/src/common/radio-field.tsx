import { ChoiceField } from "./choice-field.tsx";

/** A choice of one option. All options are visible. */
export function RadioField(props: {
  label: string;
  value: string;
  choices: readonly { readonly value: string; readonly text: string }[];
  onChange: (value: string) => void;
}) {
  const { value, ...field } = props;
  return <ChoiceField {...field} type="radio" chosen={[value]} />;
}
