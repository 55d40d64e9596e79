import { texts } from "../texts.ts";
import { CodeBlock } from "./code-block.tsx";
import { Notice } from "./notice.tsx";

/** A secret, the one time that it is shown; it is kept nowhere but on the screen. */
export function SecretShown({ label, secret }: { label: string; secret: string }) {
  return (
    <>
      <Notice look="warn" role="status">
        {texts.shownOnce}
      </Notice>
      <CodeBlock label={label} text={secret} />
    </>
  );
}
