import type { CommandContext } from "./command.ts";

/** Warns the user that the key ends soon. */
export function warnOfKeyEnd({ tell }: CommandContext): (days: number) => void {
  return (days) => {
    const when = days === 1 ? "within a day" : `in ${days} days`;
    tell(`The API key ends ${when}: renew it in the dashboard.`);
  };
}
