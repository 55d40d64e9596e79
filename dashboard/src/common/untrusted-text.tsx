import { useState } from "react";
import { texts } from "../texts.ts";
import { Button } from "./button.tsx";
import styles from "./untrusted-text.module.css";

const SHOWN_AT_FIRST = 280;

/**
 * A stranger's text, unchanged. It cannot change the direction of the text around it. A long one is cut until the
 * reader shows all of it.
 */
export function UntrustedText({ text }: { text: string }) {
  const [isWhole, setIsWhole] = useState(false);
  // Counts characters, because a cut must not split a surrogate pair.
  const characters = text.length > SHOWN_AT_FIRST ? Array.from(text) : [];
  const isLong = characters.length > SHOWN_AT_FIRST;
  return (
    <>
      <bdi className={styles.text}>
        {isLong && !isWhole ? `${characters.slice(0, SHOWN_AT_FIRST).join("")}…` : text}
      </bdi>
      {isLong && (
        <Button look="quiet" onClick={() => setIsWhole(!isWhole)}>
          {isWhole ? texts.showLess : texts.showAll}
        </Button>
      )}
    </>
  );
}
