import { texts } from "../texts.ts";

/** A link to the site that created the session's link. It also works in a page that embeds the dashboard. */
export function BackToSite({ url }: { url: string | undefined }) {
  if (!url) return null;
  return (
    <a href={url} target="_top">
      {texts.session.backToSite}
    </a>
  );
}
