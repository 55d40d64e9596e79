/** An activity and a page as the HTTP API shows them. §2.1, §4.2 */
export type {
  Activity as ActivityJson,
  ActivityPage as PageJson,
} from "../../feed/src/contract.ts";

/** A failure as the HTTP API shows it. §7 */
export type ErrorJson = { error: { code: string; message: string; request_id: string } };
