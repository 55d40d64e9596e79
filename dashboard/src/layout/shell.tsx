import type { ReactNode } from "react";
import { Link, useRoute } from "wouter";
import { Badge } from "../common/badge.tsx";
import { OfflineNotice } from "../common/offline-notice.tsx";
import { useFailing } from "../endpoints/use-stats.ts";
import { NoticeBanner } from "../notices/notice-banner.tsx";
import { BackToSite } from "../session/back-to-site.tsx";
import { useSession } from "../session/session-context.ts";
import { texts } from "../texts.ts";
import { AccountDialog } from "./account-dialog.tsx";
import { usePages } from "./pages.ts";
import styles from "./shell.module.css";

/** The frame of every page: navigation, account and notices. */
export function Shell({ children }: { children: ReactNode }) {
  const pages = usePages();
  const { returnUrl } = useSession().session;
  const failing = useFailing();
  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#content">
        {texts.skip}
      </a>
      <header className={styles.side}>
        <Link href="/" className={styles.brand}>
          <span className={styles.logo} aria-hidden="true" />
          {texts.product}
        </Link>
        <nav aria-label={texts.navigation} className={styles.nav}>
          {pages.map((page) => (
            <NavLink key={page.path} {...page} failing={page.path === "/endpoints" ? failing : 0} />
          ))}
        </nav>
        <div className={styles.account}>
          <BackToSite url={returnUrl} />
          <AccountDialog />
        </div>
      </header>
      <main id="content" className={styles.content} tabIndex={-1}>
        <OfflineNotice />
        <NoticeBanner />
        {children}
      </main>
    </div>
  );
}

function NavLink({ path, title, failing }: { path: string; title: string; failing: number }) {
  const [isHere] = useRoute(path);
  const [isBelow] = useRoute(`${path}/:id`);
  return (
    <Link
      href={path}
      className={styles.link}
      aria-current={isHere || isBelow ? "page" : undefined}
      aria-label={failing > 0 ? `${title} ${texts.endpoints.failing(failing)}` : undefined}
    >
      {title}
      {failing > 0 && <Badge look="bad" text={String(failing)} />}
    </Link>
  );
}
