export type { Checkpoint, CheckpointState } from "./checkpoint/checkpoint.ts";
export { memory } from "./checkpoint/memory.ts";
export type { ConnectionOptions, Fetch, WaitReason } from "./connection.ts";
export {
  ACTIVITY_TYPES,
  type Activity,
  type ActivityType,
  type Cheer,
  type Donation,
  type Follow,
  type GiftSub,
  type Me,
  PLATFORMS,
  type Platform,
  type Raid,
  type Subscription,
} from "./contract.ts";
export { FEED_ERROR_CODES, FeedError, type FeedErrorCode } from "./feed-error.ts";
export type { FilterOptions, Moment } from "./filters.ts";
export { type Follower, type FollowOptions, follow } from "./follow.ts";
export { type ListOptions, list } from "./list.ts";
export { me } from "./me.ts";
