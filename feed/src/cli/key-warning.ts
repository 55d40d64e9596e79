import type { CommandContext } from "./command.ts";

/** Warns the user that the key ends soon. */
export function warnOfKeyEnd({ tell }: CommandContext): (days: number) => void {
  return (days) => {
    tell(`The API key ends ${whenText(days)}: renew it in the dashboard.`);
  };
}

/** Says when a key ends. The days may be 0 or fewer if this machine's clock is ahead. */
export function whenText(days: number): string {
  return days <= 1 ? "within a day" : `in ${days} days`;
}
