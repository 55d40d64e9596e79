// The calls for other services, published as `@activity/client`. The calls between the product's own processes are not
// here, because they may change with every version.
export * from "./gen/activity/account/v1/account_service_pb.ts";
export * from "./gen/activity/dashboard/v1/api_key_service_pb.ts";
export * from "./gen/activity/dashboard/v1/delivery_service_pb.ts";
export * from "./gen/activity/dashboard/v1/endpoint_service_pb.ts";
export * from "./gen/activity/dashboard/v1/notice_service_pb.ts";
export * from "./gen/activity/dashboard/v1/session_service_pb.ts";
export * from "./gen/activity/dashboard/v1/webhook_event_kind_pb.ts";
export * from "./gen/activity/ingest/v1/donation_service_pb.ts";
export * from "./gen/activity/ingest/v1/import_service_pb.ts";
export * from "./gen/activity/ingest/v1/platform_event_service_pb.ts";
export * from "./gen/activity/read/v1/activity_pb.ts";
export * from "./gen/activity/read/v1/activity_service_pb.ts";
export * from "./gen/activity/read/v1/error_info_pb.ts";
export * from "./gen/activity/read/v1/me_service_pb.ts";
