import { useState } from "react";
import { texts } from "../texts.ts";
import { Button } from "./button.tsx";

const SAID_FOR_MS = 2_000;

/** Copies a text and says so for a moment. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [said, setSaid] = useState<string>();
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid(texts.copied);
      setTimeout(() => setSaid(undefined), SAID_FOR_MS);
    } catch {
      setSaid(texts.copyFailed);
    }
  };
  return (
    <span>
      <Button look="quiet" aria-label={`${texts.copy}: ${label}`} onClick={copy}>
        {texts.copy}
      </Button>
      <span role="status">{said}</span>
    </span>
  );
}
