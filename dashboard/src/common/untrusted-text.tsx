import { useState } from "react";
import { texts } from "../texts.ts";
import { Button } from "./button.tsx";
import styles from "./untrusted-text.module.css";

const SHOWN_AT_FIRST = 280;

/** A stranger's text as it is: it cannot turn what stands beside it around, nor push it away. */
export function UntrustedText({ text }: { text: string }) {
  const [isWhole, setIsWhole] = useState(false);
  // By characters: half of a surrogate pair is none.
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
