import type { Delivery } from "@activity/proto";
import { RecordName } from "../record/record-name.tsx";
import { amountText } from "../record/value-text.ts";
import { texts } from "../texts.ts";

/** The name of a delivery: its donation's supporter and amount, or its kind of event. */
export function DeliveryName({ delivery: { donation, test, kind } }: { delivery: Delivery }) {
  if (donation === undefined) {
    return <strong>{test ? texts.deliveries.testEvent : texts.deliveries.kinds[kind]}</strong>;
  }
  const { donorName, amountCents, currency } = donation;
  return <RecordName name={donorName} value={amountText(Number(amountCents), currency)} />;
}
