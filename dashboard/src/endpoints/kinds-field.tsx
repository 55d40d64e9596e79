import type { WebhookEventKind } from "@activity/proto";
import { ChoiceField } from "../common/choice-field.tsx";
import { KINDS } from "../common/kinds.ts";
import { texts } from "../texts.ts";

/** The choice of an endpoint's kinds of events. */
export function KindsField(props: {
  kinds: readonly WebhookEventKind[];
  onChange: (kinds: readonly WebhookEventKind[]) => void;
  error: string | undefined;
}) {
  const choose = (value: string, isChosen: boolean) => {
    const chosen = (kind: WebhookEventKind) =>
      String(kind) === value ? isChosen : props.kinds.includes(kind);
    props.onChange(KINDS.filter(chosen));
  };
  return (
    <ChoiceField
      type="checkbox"
      label={texts.endpoints.kinds}
      hint={texts.endpoints.kindsHint}
      error={props.error}
      choices={KINDS.map((kind) => ({
        value: String(kind),
        text: texts.deliveries.kinds[kind] ?? "",
      }))}
      chosen={props.kinds.map(String)}
      onChange={choose}
    />
  );
}
