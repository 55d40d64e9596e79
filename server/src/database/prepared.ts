import mysql, { type TypedParameterValue } from "mysql2/promise";

/** A value of a prepared statement. */
type Value = string | number | Buffer | null;

/**
 * Returns the values of a prepared statement, numbers as integers, which all of ours are: the driver would send them as
 * DOUBLE, which from 10^15 on reads 1.8e15 to a vtgate, and that finds an account's shard by how its number is written.
 * ADR 0048
 */
export function prepared(values: readonly Value[]): (Value | TypedParameterValue)[] {
  return values.map((value) =>
    typeof value === "number" ? mysql.TypedParameter.BIGINT(value) : value,
  );
}
