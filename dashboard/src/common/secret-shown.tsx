import { useEffect, useRef } from "react";
import { texts } from "../texts.ts";
import { CodeBlock } from "./code-block.tsx";
import { Notice } from "./notice.tsx";
import { useHold } from "./use-hold.ts";

/** Shows a secret, on the screen only. It is shown once, so the reader must say that it is saved before they leave. */
export function SecretShown(props: { label: string; secret: string; isSaved?: boolean }) {
  const tries = useHold(!props.isSaved);
  const notice = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (tries > 0) notice.current?.scrollIntoView({ block: "center" });
  }, [tries]);
  return (
    <>
      <div ref={notice}>
        {tries > 0 ? (
          <Notice key={tries} look="bad" role="alert">
            {texts.saveFirst}
          </Notice>
        ) : (
          <Notice look="warn" {...(!props.isSaved && { role: "alert" })}>
            {texts.shownOnce}
          </Notice>
        )}
      </div>
      <CodeBlock label={props.label} text={props.secret} />
    </>
  );
}
