import { DeliveryState } from "@activity/proto";
import { Badge, type BadgeLook } from "../common/badge.tsx";
import { texts } from "../texts.ts";

const LOOKS: Readonly<Record<number, BadgeLook>> = {
  [DeliveryState.UNSPECIFIED]: "plain",
  [DeliveryState.PENDING]: "warn",
  [DeliveryState.RETRYING]: "warn",
  [DeliveryState.DELIVERED]: "good",
  [DeliveryState.FAILED]: "bad",
  [DeliveryState.CANCELED]: "plain",
  [DeliveryState.PAUSED]: "plain",
  [DeliveryState.ERASED]: "plain",
};

/** The state of a delivery. */
export function StateBadge({ state }: { state: DeliveryState }) {
  return (
    <Badge
      look={LOOKS[state] ?? "plain"}
      text={texts.deliveries.states[state]}
      hint={texts.deliveries.stateHints[state]}
    />
  );
}
