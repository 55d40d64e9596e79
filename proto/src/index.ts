export * from "./client.ts";
export * from "./gen/activity/dispatch/v1/dispatch_service_pb.ts";
export * from "./gen/activity/read/v1/admission_service_pb.ts";
export * from "./gen/activity/read/v1/feed_change_service_pb.ts";
export * from "./words.ts";
