/** The colours of all pages in this browser. `system`, the default, follows the operating system. */
export type Theme = "light" | "dark" | "system";

const KEY = "theme";

/** Returns the theme that the reader chose in this browser. */
export function chosenTheme(): Theme {
  try {
    const stored = localStorage.getItem(KEY);
    return stored === "light" || stored === "dark" ? stored : "system";
  } catch {
    // If another site's page embeds this one, the browser may give it no storage.
    return "system";
  }
}

/** Stores the theme in this browser and applies it. */
export function chooseTheme(theme: Theme): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Without storage, the choice lasts until the page is left.
  }
  applyTheme(theme);
}

/** Applies a theme to this page. tokens.css has the light and the dark colours. */
export function applyTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
}
