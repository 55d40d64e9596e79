import { parseTargetUrl } from "@activity/runtime/target-url";
import { texts } from "../texts.ts";

/**
 * Says which rule an endpoint's URL breaks, while it is written; `undefined` when none. The rules are the server's, which
 * has the last word: where it runs for development, it may accept more. Contract 6.
 */
export function urlProblem(text: string): string | undefined {
  const target = parseTargetUrl(text);
  return "broken" in target ? texts.urlRules[target.broken] : undefined;
}
