/** What a notice tells of: the numbers of the proto's NoticeKind, and of the stored column. */
export const NoticeKind = {
  EndpointFailing: 1,
  RunFailed: 2,
  ApiKeyEnds: 3,
  SecretOverlapEnds: 4,
  SessionLinkReused: 5,
} as const;
export type NoticeKind = (typeof NoticeKind)[keyof typeof NoticeKind];

/** How soon an owner should act: the numbers of the proto's NoticeSeverity. */
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

/** Returns how soon an owner should act on a notice. */
export function severityOf(kind: NoticeKind, level: number): NoticeSeverity {
  return LEVELS[kind][rankOf(kind, level)]?.severity ?? Warning;
}

/** How it stands with a subject, as far as a kind of notice tells of it; times in microseconds. */
export type Condition = {
  readonly kind: NoticeKind;
  /** The most serious level that is reached; `undefined` when none is, but what was told lasts. */
  readonly level: number | undefined;
  readonly since: number;
  /** Another end makes another episode. */
  readonly endsAt: number | undefined;
};

/** A notice of a subject that is not closed. */
export type OpenNotice = {
  readonly sequence: number;
  readonly level: number;
  readonly since: number;
  readonly endsAt: number | undefined;
};

/** What to write: whether the open notice is closed, and which one follows. */
export type NoticeChange = {
  readonly closes: boolean;
  readonly tells: { readonly level: number; readonly since: number } | undefined;
};

/**
 * Decides what to write of a subject and a kind, from the open notice, if there is one, and from how it stands;
 * `undefined` when there is nothing to tell of. Each level is told once in an episode, and none below one that was told.
 */
export function changeOf(
  open: OpenNotice | undefined,
  condition: Condition | undefined,
): NoticeChange {
  if (condition === undefined) return { closes: true, tells: undefined };
  const { kind, level, since, endsAt } = condition;
  if (open === undefined || open.endsAt !== endsAt) {
    return { closes: true, tells: level === undefined ? undefined : { level, since } };
  }
  const isWorse = level !== undefined && rankOf(kind, level) > rankOf(kind, open.level);
  return isWorse
    ? { closes: true, tells: { level, since: open.since } }
    : { closes: false, tells: undefined };
}

function rankOf(kind: NoticeKind, level: number): number {
  return LEVELS[kind].findIndex((each) => each.level === level);
}
