import type { ReactNode } from "react";
import styles from "./button.module.css";

/** A button; `quiet` ones stand in rows and beside texts. One that is pending keeps the focus and does nothing. */
export function Button(props: {
  look?: "primary" | "plain" | "danger" | "quiet";
  type?: "button" | "submit";
  onClick?: () => void;
  isDisabled?: boolean;
  isPending?: boolean;
  "aria-label"?: string;
  children: ReactNode;
}) {
  const { look = "plain", type = "button", isPending = false } = props;
  return (
    <button
      type={type}
      className={`${styles.button} ${styles[look]}`}
      disabled={props.isDisabled}
      aria-disabled={isPending}
      aria-label={props["aria-label"]}
      onClick={(event) => {
        if (isPending) event.preventDefault();
        else props.onClick?.();
      }}
    >
      {props.children}
    </button>
  );
}
