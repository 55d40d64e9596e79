import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { ReactNode } from "react";
import { Link } from "wouter";
import styles from "./table.module.css";
import { exactText } from "./time.tsx";

/** A column: its heading, and what a row shows in it. */
export type Column<Row> = {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** For numbers and buttons: they stand at the end of the cell. */
  readonly isEnd?: boolean;
  /** For a text of any length: it may break inside a word. Other columns break only between words. */
  readonly isLong?: boolean;
};

/**
 * A table. In a narrow container its rows become cards. The first column names the row. With `href`, its text is a link
 * that covers the whole row.
 */
export function Table<Row>(props: {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  href?: (row: Row) => string;
  /** Returns a row's time. On hover, a linked row shows it to the second. */
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
