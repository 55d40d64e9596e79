import { texts } from "../texts.ts";
import { Button } from "./button.tsx";
import styles from "./more-button.module.css";

/** What a paged list tells of itself. */
type Paged = {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly fetchNextPage: () => unknown;
};

/** Shows the next page of a list below those that are there, while there is one. */
export function MoreButton({ query }: { query: Paged }) {
  if (!query.hasNextPage) return null;
  return (
    <div className={styles.more}>
      <Button isPending={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        {texts.more}
      </Button>
    </div>
  );
}
