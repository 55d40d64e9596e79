import { texts } from "../texts.ts";
import { Button } from "./button.tsx";
import styles from "./more-button.module.css";

/** The part of a paged query that the button uses. */
type Paged = {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly fetchNextPage: () => unknown;
};

/** A button that adds the next page to a list. It disappears after the last page. Its place then keeps the focus. */
export function MoreButton({ query }: { query: Paged }) {
  return (
    <div className={styles.more} data-rest>
      {query.hasNextPage && (
        <Button isPending={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          {texts.more}
        </Button>
      )}
    </div>
  );
}
