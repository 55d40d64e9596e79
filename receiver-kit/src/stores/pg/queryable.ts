/** The part of a `pg` pool or client that the store uses. */
export interface PgQueryable {
  query(text: string, values?: unknown[]): Promise<PgResult>;
}

/** The part of a `pg` result that the store reads. */
export interface PgResult {
  /** The command that ran, such as `COMMIT`. Absent in other drivers. */
  readonly command?: string;
  readonly rowCount: number | null;
  readonly rows: readonly Record<string, unknown>[];
}

/** A `pg` pool. TypeScript infers the client's type from the first signature only if the second is declared too. */
export interface PgPool<Client> extends PgQueryable {
  connect(): Promise<Client>;
  connect(callback: never): void;
}

/** A client from a `pg` pool. */
export interface PgPooledClient extends PgQueryable {
  release(error?: boolean): void;
  /** Absent in other drivers. */
  on?(event: "error", listener: () => void): unknown;
  off?(event: "error", listener: () => void): unknown;
}
