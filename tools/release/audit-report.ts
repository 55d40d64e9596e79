/** A known vulnerability that is left in for now. */
export type ExplainedFinding = {
  /** The advisory's address, as npm shows it. */
  readonly advisory: string;
  readonly package: string;
  /** Why it does no harm here. */
  readonly reason: string;
  /** The day it is looked at again, `YYYY-MM-DD`: from then on it counts. */
  readonly until: string;
};

/** What became of asking the registry for known vulnerabilities. */
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
    // A text names the package through which another is affected, which has a row of its own.
    Record<string, { readonly via: readonly (string | Advisory)[] }>
  >;
};

/**
 * Reads what `npm audit --json` printed. It is `not_asked` when the registry did not answer: an error is no finding.
 * `found` has a line for each vulnerability that no explanation covers today. `unused` has the advisories whose
 * explanation covers none.
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
