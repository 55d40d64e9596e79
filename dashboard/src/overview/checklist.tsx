import { Link } from "wouter";
import { Section } from "../common/section.tsx";
import { Spoken } from "../common/spoken.tsx";
import { StepMark } from "../common/step-section.tsx";
import { texts } from "../texts.ts";
import styles from "./overview.module.css";
import { type Step, useSteps } from "./use-steps.ts";

/** The steps from an empty account to the first delivered event. It disappears when all are done. */
export function Checklist() {
  const steps = useSteps();
  if (steps.every(({ isDone }) => isDone)) return null;
  const next = steps.find(({ isDone }) => !isDone);
  return (
    <Section title={texts.overview.setUp} hint={texts.overview.setUpHint}>
      <ol className={styles.list}>
        {steps.map((step) => (
          <ShownStep key={step.name} step={step} isNext={step === next} />
        ))}
      </ol>
    </Section>
  );
}

function ShownStep({ step, isNext }: { step: Step; isNext: boolean }) {
  const { title, text, action } = texts.overview.steps[step.name];
  return (
    <li className={styles.item}>
      <StepMark isDone={step.isDone} />
      <div className={styles.words}>
        <strong>
          <Spoken>{step.isDone ? texts.stepDone : texts.overview.toDo}</Spoken> {title}
        </strong>
        {!step.isDone && <span className={styles.muted}>{text}</span>}
        {isNext && step.href && <Link href={step.href}>{action}</Link>}
      </div>
    </li>
  );
}
