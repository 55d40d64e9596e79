import { UntrustedText } from "../common/untrusted-text.tsx";
import { texts } from "../texts.ts";
import styles from "./record-name.module.css";

/** Who did something and how much of it, as `Ada · €5.00`. */
export function RecordName({ name, value }: { name: string | undefined; value: string }) {
  return (
    <>
      <span className={styles.who}>
        {name === undefined ? texts.activity.anonymous : <UntrustedText text={name} />}
      </span>
      {value && <span className={styles.value}> · {value}</span>}
    </>
  );
}
