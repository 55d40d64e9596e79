import { parseTargetUrl } from "@activity/runtime/target-url";
import { texts } from "../texts.ts";

/**
 * Checks a URL while the owner types. Returns a text about the rule that it breaks; `undefined` if it breaks none.
 * These are the server's rules, but only the server decides. In development it may accept more URLs. Contract 6.
 */
export function urlProblem(text: string): string | undefined {
  const target = parseTargetUrl(text);
  return "broken" in target ? texts.urlRules[target.broken] : undefined;
}
