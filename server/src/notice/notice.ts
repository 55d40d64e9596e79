/** The kinds of notices, numbered as in the proto's NoticeKind and the stored column. */
export const NoticeKind = {
  EndpointFailing: 1,
  RunFailed: 2,
  ApiKeyEnds: 3,
  SecretOverlapEnds: 4,
  SessionLinkReused: 5,
} as const;
export type NoticeKind = (typeof NoticeKind)[keyof typeof NoticeKind];

/** How soon an owner should act, numbered as in the proto's NoticeSeverity. */
export const NoticeSeverity = { Info: 1, Warning: 2, Critical: 3 } as const;
export type NoticeSeverity = (typeof NoticeSeverity)[keyof typeof NoticeSeverity];

const { Info, Warning, Critical } = NoticeSeverity;

/** The levels of each kind, the least serious first, with their severities. */
export const LEVELS: Readonly<
  Record<NoticeKind, readonly { readonly level: number; readonly severity: NoticeSeverity }[]>
> = {
  [NoticeKind.EndpointFailing]: [
    { level: 50, severity: Warning },
    { level: 70, severity: Warning },
    { level: 90, severity: Critical },
    { level: 100, severity: Critical },
  ],
  [NoticeKind.RunFailed]: [{ level: 0, severity: Warning }],
  [NoticeKind.ApiKeyEnds]: [
    { level: 14, severity: Info },
    { level: 3, severity: Warning },
    { level: 0, severity: Critical },
  ],
  [NoticeKind.SecretOverlapEnds]: [{ level: 0, severity: Warning }],
  [NoticeKind.SessionLinkReused]: [{ level: 0, severity: Critical }],
};

export function severityOf(kind: NoticeKind, level: number): NoticeSeverity {
  return LEVELS[kind][rankOf(kind, level)]?.severity ?? Warning;
}

/** The state of a subject with regard to one kind of notice; times in microseconds. */
export type Condition = {
  readonly kind: NoticeKind;
  /** The most serious level that the problem reaches; `undefined` if it reaches none, but an open notice stays open. */
  readonly level: number | undefined;
  readonly since: number;
  /**
   * When the API key ends or the next secret begins to sign. If this differs from the open notice's end, the problem is
   * new.
   */
  readonly endsAt: number | undefined;
};

export type OpenNotice = {
  readonly sequence: number;
  readonly level: number;
  readonly since: number;
  readonly endsAt: number | undefined;
};

/** Whether to close the open notice, and which notice to open. */
export type NoticeChange = {
  readonly closes: boolean;
  readonly opens: { readonly level: number; readonly since: number } | undefined;
};

/**
 * Decides which notices to close and open for a subject and a kind. `condition` is `undefined` if the cause is gone.
 * While a problem lasts, each level gets one notice, and no lower level follows.
 */
export function changeOf(
  open: OpenNotice | undefined,
  condition: Condition | undefined,
): NoticeChange {
  if (condition === undefined) return { closes: true, opens: undefined };
  const { kind, level, since, endsAt } = condition;
  if (open === undefined || open.endsAt !== endsAt) {
    return { closes: true, opens: level === undefined ? undefined : { level, since } };
  }
  const isWorse = level !== undefined && rankOf(kind, level) > rankOf(kind, open.level);
  return isWorse
    ? { closes: true, opens: { level, since: open.since } }
    : { closes: false, opens: undefined };
}

function rankOf(kind: NoticeKind, level: number): number {
  return LEVELS[kind].findIndex((each) => each.level === level);
}
