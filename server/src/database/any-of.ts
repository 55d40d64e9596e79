/** SQL of a condition, and the values for its question marks. */
export type Condition = { readonly sql: string; readonly values: readonly unknown[] };

/**
 * Returns a condition for rows whose `columns` equal one of `tuples` (at least one). The first column is the account's
 * number.
 *
 * Several tuples become `a IN (?) AND (a, b) IN (?)`. MySQL and MariaDB then use an index that begins with these
 * columns, but MariaDB only for fewer than a thousand values. With OR instead, a vtgate would read all rows of an
 * account. A vtgate joins tables on their shards only because the first condition names the accounts.
 *
 * A single tuple becomes equalities. MariaDB uses no index for a list of one tuple, so an UPDATE or DELETE would read
 * and lock every row. ADR 0048
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
