import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { ReactNode } from "react";
import { Link } from "wouter";
import styles from "./table.module.css";
import { exactText } from "./time.tsx";

/** A column: its heading, and what a row shows in it. */
export type Column<Row> = {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** Numbers and buttons stand at the end. */
  readonly isEnd?: boolean;
  /** A text of any length: it breaks inside a word when it must. Other columns break between words only. */
  readonly isLong?: boolean;
};

/**
 * A table whose rows become cards where it is narrow. The first column names the row; with `href` it is a link that is
 * as large as the row.
 */
export function Table<Row>(props: {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  href?: (row: Row) => string;
  /** When a row's time was, exactly: on hover anywhere in the row. */
  at?: (row: Row) => Timestamp | undefined;
}) {
  const { href, at } = props;
  return (
    <div className={styles.frame}>
      <table className={`${styles.table} ${href ? styles.linked : ""}`} aria-label={props.label}>
        <thead>
          <tr>
            {props.columns.map(({ title, isEnd }) => (
              <th key={title} scope="col" className={isEnd ? styles.end : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {props.rows.map((row) => (
            <tr key={props.rowKey(row)}>
              {props.columns.map(({ title, cell, isEnd, isLong }, index) => (
                <td key={title} className={isEnd ? styles.end : isLong ? styles.long : undefined}>
                  <span className={styles.label} aria-hidden="true">
                    {title}
                  </span>
                  <span>
                    {href && index === 0 ? (
                      <Link href={href(row)} title={exactText(at?.(row))}>
                        {cell(row)}
                      </Link>
                    ) : (
                      cell(row)
                    )}
                  </span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
