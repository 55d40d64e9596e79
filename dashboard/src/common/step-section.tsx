import type { ReactNode } from "react";
import { texts } from "../texts.ts";
import { Spoken } from "./spoken.tsx";
import styles from "./step-section.module.css";

/** One of several steps on a page, with a tick when it is done. A step without content is not reached yet. */
export function StepSection(props: {
  number: number;
  title: string;
  isDone?: boolean;
  children?: ReactNode;
}) {
  const { number, title, isDone = false, children } = props;
  return (
    <section className={styles.step}>
      <h2 className={children ? styles.title : styles.later}>
        <StepMark isDone={isDone}>{number}</StepMark>
        {isDone && <Spoken>{texts.stepDone}</Spoken>} {title}
      </h2>
      {children}
    </section>
  );
}

/** The mark before a step: a tick if it is done. */
export function StepMark({ isDone, children }: { isDone: boolean; children?: ReactNode }) {
  return (
    <span className={`${styles.mark} ${isDone ? styles.done : ""}`} aria-hidden="true">
      {isDone ? "✓" : children}
    </span>
  );
}
