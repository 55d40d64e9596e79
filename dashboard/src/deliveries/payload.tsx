import { CodeBlock } from "../common/code-block.tsx";
import { Section } from "../common/section.tsx";
import { texts } from "../texts.ts";

/** The body of an event. It is indented on the screen and copied byte for byte. */
export function Payload({ payload }: { payload: Uint8Array }) {
  const text = new TextDecoder().decode(payload);
  return (
    <Section title={texts.deliveries.payload} hint={texts.deliveries.payloadHint}>
      {text === "" ? (
        <p>{texts.deliveries.payloadErased}</p>
      ) : (
        <CodeBlock label="JSON" text={indented(text)} copied={text} isJson />
      )}
    </Section>
  );
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}
