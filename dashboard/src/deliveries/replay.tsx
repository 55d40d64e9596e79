import type { Delivery } from "@activity/proto";
import { CodeBlock } from "../common/code-block.tsx";
import { Section } from "../common/section.tsx";
import { texts } from "../texts.ts";
import { curlScript, kitCommand } from "./replay-commands.ts";
import { useEndpoints } from "./use-endpoints.ts";

/** Commands that send the event again from the owner's own machine. */
export function Replay({ delivery, payload }: { delivery: Delivery; payload: Uint8Array }) {
  const endpoint = useEndpoints()?.get(delivery.endpointId);
  if (payload.length === 0) return null;
  const replay = {
    url: endpoint?.url ?? texts.deliveries.localUrl,
    eventId: delivery.eventId,
    body: new TextDecoder().decode(payload),
  };
  return (
    <Section title={texts.deliveries.replay} hint={texts.deliveries.replayHint}>
      <CodeBlock label={texts.deliveries.kit} text={kitCommand(replay)} isShort />
      <CodeBlock label={texts.deliveries.curl} text={curlScript(replay)} isShort />
    </Section>
  );
}
