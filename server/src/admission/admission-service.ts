import type { AdmissionService } from "@activity/proto";
import type { ServiceImpl } from "@connectrpc/connect";

/** Answers with nothing: authentication has already counted and checked the call. */
export function createAdmissionService(): ServiceImpl<typeof AdmissionService> {
  return { admitClient: () => ({}), admitApiKey: () => ({}) };
}
