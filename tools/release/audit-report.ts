/** A known vulnerability that we accept for now. */
export type ExplainedFinding = {
  /** The advisory's address in npm's output. */
  readonly advisory: string;
  readonly package: string;
  /** Why it does no harm here. */
  readonly reason: string;
  /** The date of the next review, `YYYY-MM-DD`. From that day the finding counts. */
  readonly until: string;
};

/** The result of asking the registry for known vulnerabilities. */
export type AuditResult =
  | { readonly kind: "not_asked"; readonly reason: string }
  | {
      readonly kind: "asked";
      readonly found: readonly string[];
      readonly unused: readonly string[];
    };

type Advisory = { readonly url: string; readonly title: string; readonly severity: string };
type Report = {
  readonly message?: string;
  readonly error?: { readonly summary?: string };
  readonly vulnerabilities?: Readonly<
    // A string names another package that makes this one vulnerable. That package has its own entry.
    Record<string, { readonly via: readonly (string | Advisory)[] }>
  >;
};

/**
 * Parses the output of `npm audit --json`. The result is `not_asked` if the registry did not answer, because a missing
 * answer is no finding. `found` has a line for each vulnerability without a valid explanation. `unused` has the
 * advisories of explanations that match nothing.
 */
export function readAudit(
  output: string,
  explained: readonly ExplainedFinding[],
  today: string,
): AuditResult {
  const report = parse(output);
  if (report?.vulnerabilities === undefined) {
    const reason = report?.message ?? report?.error?.summary ?? "npm printed no report";
    return { kind: "not_asked", reason };
  }
  const used = new Set<ExplainedFinding>();
  const found = Object.entries(report.vulnerabilities).flatMap(([name, { via }]) =>
    via.flatMap((advisory) => {
      if (typeof advisory === "string") return [];
      const explanation = explained.find(
        (each) => each.advisory === advisory.url && each.package === name,
      );
      if (explanation) used.add(explanation);
      if (explanation && today < explanation.until) return [];
      const over = explanation ? ` (explained until ${explanation.until})` : "";
      return [`${name}: ${advisory.severity}, ${advisory.title}, ${advisory.url}${over}`];
    }),
  );
  const unused = explained.filter((each) => !used.has(each)).map(({ advisory }) => advisory);
  return { kind: "asked", found, unused };
}

function parse(output: string): Report | undefined {
  try {
    const parsed: unknown = JSON.parse(output);
    return typeof parsed === "object" && parsed !== null ? parsed : undefined;
  } catch {
    return undefined;
  }
}
