import type { ReactNode } from "react";
import { Link } from "wouter";
import styles from "./button.module.css";

/** A link to another page. It looks like a primary button. */
export function ButtonLink({ href, children }: { href: string; children: ReactNode }) {
  return (
    <Link href={href} className={`${styles.button} ${styles.primary} ${styles.link}`}>
      {children}
    </Link>
  );
}
