import { UntrustedText } from "../common/untrusted-text.tsx";
import { texts } from "../texts.ts";

/** The name of an actor. A blank one is shown as no name, because a link needs a text. */
export function ActorName({ name }: { name: string | undefined }) {
  return name?.trim() ? <UntrustedText text={name} /> : texts.activity.anonymous;
}
