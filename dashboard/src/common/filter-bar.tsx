import type { ReactNode } from "react";
import { texts } from "../texts.ts";
import { Button } from "./button.tsx";
import styles from "./filter-bar.module.css";
import type { Filters } from "./use-filters.ts";

/** The filters of a list, with a button that clears them. */
export function FilterBar({ filters, children }: { filters: Filters; children: ReactNode }) {
  return (
    <search className={styles.bar}>
      {children}
      {filters.isAny && (
        <Button look="quiet" onClick={filters.clear}>
          {texts.clearFilters}
        </Button>
      )}
    </search>
  );
}
