import { useState } from "react";
import { texts } from "../texts.ts";
import { Button } from "./button.tsx";
import styles from "./untrusted-text.module.css";

const CHARACTERS_AT_FIRST = 280;
const LINES_AT_FIRST = 8;

/**
 * A stranger's text, unchanged. It cannot change the direction of the text around it. A long text is cut until the
 * reader shows all of it.
 */
export function UntrustedText({ text }: { text: string }) {
  const [isWhole, setIsWhole] = useState(false);
  // Keeps at least `CHARACTERS_AT_FIRST` characters, because each has at most two UTF-16 units.
  const head = text
    .split("\n", LINES_AT_FIRST)
    .join("\n")
    .slice(0, 2 * CHARACTERS_AT_FIRST);
  // Counts characters, because a cut must not split a surrogate pair.
  const start = Array.from(head).slice(0, CHARACTERS_AT_FIRST).join("");
  const isLong = start !== text;
  return (
    <>
      <bdi className={styles.text}>{isLong && !isWhole ? `${start}…` : text}</bdi>
      {isLong && (
        <Button look="quiet" onClick={() => setIsWhole(!isWhole)}>
          {isWhole ? texts.showLess : texts.showAll}
        </Button>
      )}
    </>
  );
}
