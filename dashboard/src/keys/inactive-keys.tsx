import type { ApiKey } from "@activity/proto";
import { texts } from "../texts.ts";
import styles from "./key-table.module.css";
import { KeyTable } from "./key-table.tsx";

/** The expired and revoked keys. The list is closed at first. */
export function InactiveKeys({ keys }: { keys: readonly ApiKey[] }) {
  if (keys.length === 0) return null;
  return (
    <details className={styles.inactive}>
      <summary>{texts.keys.inactive(keys.length)}</summary>
      <KeyTable keys={keys} mayWrite={false} />
    </details>
  );
}
