import { expect } from "vitest";
import type { VitessCluster } from "./harness-vitess-cluster.ts";

const KEYSPACE = "activity";
/** The options of polls for the next state. Only a stuck step reaches this time limit. */
const COMES = { timeout: 5 * 60_000, interval: 1_000 };
/** How many seconds copies may lag before the traffic is switched. */
const BEHIND_SECONDS = 3;

type Stream = { readonly status: string; readonly info: string };
type Status = {
  readonly shard_streams: Readonly<Record<string, { readonly streams: readonly Stream[] }>>;
};
type Diff = {
  readonly State: string;
  readonly HasMismatch: boolean;
  readonly RowsCompared: number;
};

/** Lists the steps of Vitess's own Reshard that replace the existing shards with `count` shards. */
export function splitSteps(cluster: VitessCluster, count: number) {
  const shardsNow = () =>
    cluster
      .shards()
      .filter(({ keyspace }) => keyspace === KEYSPACE)
      .map(({ name }) => name);
  const before = shardsNow();
  const added = () => shardsNow().filter((name) => !before.includes(name));
  const workflow = ["--workflow", "split", "--target-keyspace", KEYSPACE];
  const reshard = (...args: string[]) => cluster.control("Reshard", ...workflow, ...args);
  const ask = async <Answer>(command: string, ...args: string[]): Promise<Answer> =>
    JSON.parse(await cluster.control(command, "--format", "json", ...workflow, ...args));
  const countBehind = async () => {
    const { shard_streams: shards } = await ask<Status>("Reshard", "status");
    const streams = Object.values(shards).flatMap((shard) => shard.streams);
    const isClose = ({ status, info }: Stream) =>
      status === "Running" && Number(/Lag: (-?\d+)s/.exec(info)?.[1]) <= BEHIND_SECONDS;
    return streams.length === 0 ? Number.NaN : streams.filter((one) => !isClose(one)).length;
  };
  const untilClose = () => expect.poll(countBehind, COMES).toBe(0);
  const diff = async () => {
    await cluster.control("VDiff", ...workflow, "create");
    const show = () => ask<Diff>("VDiff", "show", "last");
    await expect.poll(async () => (await show()).State, COMES).toBe("completed");
    const { HasMismatch, RowsCompared } = await show();
    expect(HasMismatch).toBe(false);
    expect(RowsCompared).toBeGreaterThan(0);
  };
  async function copy(): Promise<void> {
    const shards = ["--source-shards", before.join(","), "--target-shards", added().join(",")];
    // A vttablet accepts copies only some moments after it serves. Until then it refuses, and nothing begins.
    const create = () => reshard("create", ...shards).then(() => "created", String);
    await expect.poll(create, COMES).toBe("created");
    await untilClose();
  }
  async function complete(): Promise<void> {
    await reshard("complete");
    await cluster.removeShards(KEYSPACE, before);
  }
  const addShards = () => cluster.addShards(KEYSPACE, count);
  return [addShards, copy, diff, untilClose, () => reshard("SwitchTraffic"), complete];
}
