import { useSearchParams } from "wouter";

/** Filters in the page's address. A reload, the back button and a bookmark keep them. */
export type Filters = {
  /** Returns the text of a filter; empty if it is not set. */
  readonly get: (name: string) => string;
  /** Returns the enum value of a filter. Returns 0 (unspecified) if it is not in `values`. */
  readonly choice: <Value extends number>(name: string, values: readonly Value[]) => Value | 0;
  readonly set: (name: string, value: string | number) => void;
  /** Sets several filters at once. An empty value or 0 removes its filter. */
  readonly setAll: (values: Readonly<Record<string, string | number>>) => void;
  readonly clear: () => void;
  readonly isAny: boolean;
};

/** Reads and writes the filters of a page. */
export function useFilters(): Filters {
  const [params, setParams] = useSearchParams();
  const get = (name: string) => params.get(name) ?? "";
  const setAll = (values: Readonly<Record<string, string | number>>) =>
    setParams(
      (before) => {
        const after = new URLSearchParams(before);
        for (const [name, value] of Object.entries(values)) {
          if (value === "" || value === 0) after.delete(name);
          else after.set(name, String(value));
        }
        return after;
      },
      { replace: true },
    );
  return {
    get,
    choice: (name, values) => values.find((value) => String(value) === get(name)) ?? 0,
    set: (name, value) => setAll({ [name]: value }),
    setAll,
    clear: () => setParams(new URLSearchParams(), { replace: true }),
    isAny: params.size > 0,
  };
}
