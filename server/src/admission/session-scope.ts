/** The scopes of a session, numbered as in the proto's SessionScope. The stored column has a bit for each number. */
export const SessionScope = {
  KeysRead: 1,
  KeysWrite: 2,
  EndpointsRead: 3,
  EndpointsWrite: 4,
  DeliveriesRead: 5,
  DeliveriesWrite: 6,
  ActivityRead: 7,
} as const;
export type SessionScope = (typeof SessionScope)[keyof typeof SessionScope];

/** A part of the dashboard. It has a scope to read it, and a scope to change it if changes are possible. */
export type ScopeFamily = {
  readonly name: string;
  readonly read: SessionScope;
  readonly write?: SessionScope;
};

/** All parts of the dashboard. */
export const ScopeFamily = {
  Keys: { name: "keys", read: SessionScope.KeysRead, write: SessionScope.KeysWrite },
  Endpoints: {
    name: "endpoints",
    read: SessionScope.EndpointsRead,
    write: SessionScope.EndpointsWrite,
  },
  Deliveries: {
    name: "deliveries",
    read: SessionScope.DeliveriesRead,
    write: SessionScope.DeliveriesWrite,
  },
  Activity: { name: "activity", read: SessionScope.ActivityRead },
} as const satisfies Record<string, ScopeFamily>;

const SCOPES: readonly SessionScope[] = Object.values(SessionScope);

/**
 * Tells whether scopes allow reading a part of the dashboard, or changing it if `isWrite`. A write scope includes
 * reading.
 */
export function mayUse(
  scopes: readonly SessionScope[],
  { read, write }: ScopeFamily,
  isWrite: boolean,
): boolean {
  const allowing = isWrite ? [write] : [read, write];
  return scopes.some((scope) => allowing.includes(scope));
}

/** Packs scopes into the bits of one number. A scope's number is at most 30. */
export function scopeBits(scopes: readonly number[]): number {
  return SCOPES.reduce((bits, scope) => (scopes.includes(scope) ? bits | (1 << scope) : bits), 0);
}

/** Unpacks the scopes of `scopeBits`, in the order of their numbers. */
export function scopesFromBits(bits: number): SessionScope[] {
  return SCOPES.filter((scope) => (bits & (1 << scope)) !== 0);
}
