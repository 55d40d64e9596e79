/** Which colours a page has; those of the system unless its reader chose others in this browser. */
export type Theme = "light" | "dark" | "system";

const KEY = "theme";

/** Returns what was chosen in this browser. */
export function chosenTheme(): Theme {
  try {
    const stored = localStorage.getItem(KEY);
    return stored === "light" || stored === "dark" ? stored : "system";
  } catch {
    // Another site's page embeds this one, in a browser that keeps nothing for such pages.
    return "system";
  }
}

/** Chooses the colours of every page in this browser from now on. */
export function chooseTheme(theme: Theme): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // It is chosen until the page is left.
  }
  applyTheme(theme);
}

/** Shows the page in these colours: tokens.css has both. */
export function applyTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
}
