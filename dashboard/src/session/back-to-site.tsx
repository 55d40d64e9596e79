import { texts } from "../texts.ts";

/** Leads back to the site that made the session's link, also out of a page of it that embeds the dashboard. */
export function BackToSite({ url }: { url: string | undefined }) {
  if (!url) return null;
  return (
    <a href={url} target="_top">
      {texts.session.backToSite}
    </a>
  );
}
