import { type ReactNode, useLayoutEffect, useRef } from "react";
import styles from "./button.module.css";
import { passFocus } from "./pass-focus.ts";

/**
 * A button. `quiet` buttons stand in rows and next to texts. A pending button keeps the focus and does nothing. The
 * second click of a double click does nothing either: it may hit a button that the reader has not seen. When a focused
 * button disappears, the focus moves on, but the page does not scroll.
 */
export function Button(props: {
  look?: "primary" | "plain" | "danger" | "quiet";
  type?: "button" | "submit";
  onClick?: () => void;
  isPending?: boolean;
  "aria-label"?: string;
  children: ReactNode;
}) {
  const { look = "plain", type = "button", isPending = false } = props;
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    const { current } = button;
    return () => {
      if (current === null || document.activeElement !== current) return;
      passFocus(current, { preventScroll: true });
    };
  }, []);
  return (
    <button
      ref={button}
      type={type}
      className={`${styles.button} ${styles[look]}`}
      aria-disabled={isPending}
      aria-label={props["aria-label"]}
      onClick={(event) => {
        if (isPending || event.detail > 1) event.preventDefault();
        else props.onClick?.();
      }}
    >
      {props.children}
    </button>
  );
}
