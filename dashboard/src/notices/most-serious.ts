import type { Notice } from "@activity/proto";

/** Returns the newest of the most serious notices. `notices` must be ordered newest first. */
export function mostSerious(notices: readonly Notice[]): Notice | undefined {
  const highest = Math.max(...notices.map(({ severity }) => severity));
  return notices.find(({ severity }) => severity === highest);
}
