import type { ApiKey } from "@activity/proto";
import { Table } from "../common/table.tsx";
import { Time } from "../common/time.tsx";
import { texts } from "../texts.ts";
import { KeyEnd } from "./key-end.tsx";
import styles from "./key-table.module.css";
import { RenewKey } from "./renew-key.tsx";
import { RevokeKey } from "./revoke-key.tsx";

/** A table of keys, with the actions on each. */
export function KeyTable({ keys, mayWrite }: { keys: readonly ApiKey[]; mayWrite: boolean }) {
  const columns = [
    {
      title: texts.keys.name,
      isLong: true,
      cell: ({ name }: ApiKey) => <bdi className={styles.name}>{name}</bdi>,
    },
    { title: texts.keys.prefix, cell: ({ prefix }: ApiKey) => <code>{prefix}…</code> },
    { title: texts.keys.createdAt, cell: ({ createdAt }: ApiKey) => <Time at={createdAt} isDay /> },
    { title: texts.keys.expiresAt, cell: (key: ApiKey) => <KeyEnd apiKey={key} /> },
    {
      title: texts.keys.lastUsedAt,
      cell: ({ lastUsedAt }: ApiKey) => (
        <span title={texts.keys.lastUsedHint}>
          <Time at={lastUsedAt} instead={texts.never} isDay />
        </span>
      ),
    },
  ];
  const actions = {
    title: texts.actions,
    isEnd: true,
    cell: (key: ApiKey) => (
      <span className={styles.actions}>
        <RenewKey apiKey={key} />
        <RevokeKey apiKey={key} />
      </span>
    ),
  };
  return (
    <Table
      label={texts.pages.keys}
      columns={mayWrite ? [...columns, actions] : columns}
      rows={keys}
      rowKey={({ id }) => id}
    />
  );
}
