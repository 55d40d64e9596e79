import { ActorName } from "./actor-name.tsx";
import styles from "./record-name.module.css";

/** The actor and the value of a record, as `Ada · €5.00`. */
export function RecordName({ name, value }: { name: string | undefined; value: string }) {
  return (
    <>
      <span className={styles.who}>
        <ActorName name={name} />
      </span>
      {value && <span className={styles.value}> · {value}</span>}
    </>
  );
}
