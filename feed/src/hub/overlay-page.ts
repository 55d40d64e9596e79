import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

/** The page for a browser source. Its headers allow only what the page needs. */
export interface OverlayPage {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

export function readOverlayPage(): OverlayPage {
  const html = readFileSync(new URL("overlay.html", import.meta.url), "utf8");
  const policy = [
    "default-src 'none'",
    `script-src ${scriptHashOf(html)}`,
    // OBS adds the text of its field "Custom CSS" as a style element. Records cannot add one, because the page writes
    // them as text.
    "style-src 'unsafe-inline'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  const headers = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": policy.join("; "),
  };
  return { html, headers };
}

function scriptHashOf(html: string): string {
  const [, content = ""] = /<script>(.*?)<\/script>/s.exec(html) ?? [];
  return `'sha256-${createHash("sha256").update(content).digest("base64")}'`;
}
