/** SQL for a condition, and the values of its places. */
export type Condition = { readonly sql: string; readonly values: readonly unknown[] };

/**
 * SQL that holds for the rows whose columns have the values of one of the tuples, at least one, and its values; the first
 * column is that of the account's number. In this form MySQL and MariaDB go by the index whose first columns these are,
 * MariaDB only while it is not more than a thousand values. Of conditions joined by OR a vtgate makes others, which read
 * all that an account has; and it joins tables on their shards only where the accounts stand by themselves. A single row
 * is named by equalities: of a list of one tuple MariaDB makes no key, and an UPDATE or DELETE would read and lock
 * every row. ADR 0048
 */
export function anyOf(
  columns: readonly string[],
  tuples: readonly (readonly unknown[])[],
): Condition {
  const [first = []] = tuples;
  if (tuples.length === 1) {
    return { sql: columns.map((column) => `${column} = ?`).join(" AND "), values: first };
  }
  const accountNos = [...new Set(tuples.map(([accountNo]) => accountNo))];
  return {
    sql: `${columns[0]} IN (?) AND (${columns.join(", ")}) IN (?)`,
    values: [accountNos, tuples],
  };
}
