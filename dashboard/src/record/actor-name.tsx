import { UntrustedText } from "../common/untrusted-text.tsx";
import { texts } from "../texts.ts";

/** Matches a character that a reader can see. The Braille blank is a symbol by its properties. */
const VISIBLE = /[^\s\p{Cc}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** The name of an actor. An invisible one is shown as no name, because a link needs a text. */
export function ActorName({ name }: { name: string | undefined }) {
  return name && VISIBLE.test(name) ? <UntrustedText text={name} /> : texts.activity.anonymous;
}
