/**
 * Moves the focus from an element to the end of its list, or else to the title of its page or dialog. Without this, the
 * focus would go to the top of the document when the element disappears.
 */
export function passFocus(from: Element, options?: FocusOptions): void {
  const next =
    from.closest<HTMLElement>("[data-rest]") ??
    from.closest("dialog, main")?.querySelector<HTMLElement>("h1, h2");
  if (!next) return;
  next.tabIndex = -1;
  next.focus(options);
}
