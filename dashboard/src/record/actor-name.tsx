import { UntrustedText } from "../common/untrusted-text.tsx";
import { texts } from "../texts.ts";

/** Matches a character that a reader can see. The Braille blank (U+2800) counts as a symbol, so it is named here. */
const VISIBLE = /[^\s\p{Cc}\p{Default_Ignorable_Code_Point}\u2800]/u;

/**
 * The name of an actor, in one line. A text of many lines gets a button, but the name may be in a link. An invisible
 * name is shown as no name, because a link needs a text.
 */
export function ActorName({ name }: { name: string | undefined }) {
  if (!name || !VISIBLE.test(name)) return texts.activity.anonymous;
  return <UntrustedText text={name.replaceAll("\n", " ")} />;
}
