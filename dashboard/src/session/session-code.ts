const CODE = /^#code=([^&]+)$/;

/** Returns the code behind `#` in the address and removes it from there and from the history; `undefined` without one. */
export function takeCode(): string | undefined {
  const code = CODE.exec(location.hash)?.[1];
  if (code === undefined) return undefined;
  history.replaceState(null, "", location.pathname + location.search);
  return code;
}

/** Begins anew when a link is opened in a tab that shows the dashboard already: browsers load nothing then. */
export function reloadOnNewCode(): void {
  addEventListener("hashchange", () => {
    if (CODE.test(location.hash)) location.reload();
  });
}
