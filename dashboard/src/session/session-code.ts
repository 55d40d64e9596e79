const CODE = /^#code=([^&]+)$/;

/**
 * Returns the code after `#` in the address, and removes it from the address and the history. Returns `undefined` if
 * there is none.
 */
export function takeCode(): string | undefined {
  const code = CODE.exec(location.hash)?.[1];
  if (code === undefined) return undefined;
  history.replaceState(null, "", location.pathname + location.search);
  return code;
}

/**
 * Reloads the page when a link is opened in a tab that already shows the dashboard. A browser does not load a page
 * again if only the part after `#` changes.
 */
export function reloadOnNewCode(): void {
  addEventListener("hashchange", () => {
    if (CODE.test(location.hash)) location.reload();
  });
}
