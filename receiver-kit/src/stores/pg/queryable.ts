/** What the store needs of a `pg` pool or client. */
export interface PgQueryable {
  query(text: string, values?: unknown[]): Promise<PgResult>;
}

/** What the store reads of a `pg` result. */
export interface PgResult {
  readonly rowCount: number | null;
  readonly rows: readonly Record<string, unknown>[];
}

/** A `pg` pool: TypeScript reads the client's type off its first signature only beside the second. */
export interface PgPool<Client> extends PgQueryable {
  connect(): Promise<Client>;
  connect(callback: never): void;
}

/** A client that a `pg` pool lent. */
export interface PgPooledClient extends PgQueryable {
  release(error?: boolean): void;
}
