import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { readText } from "../architecture/import-rule.ts";
import { copyProject } from "../harness/project-copy.ts";
import { type Run, watch } from "../start/harness-program.ts";

/** The result of the Containerfile, as folders of this machine. No container engine is needed. */
export type Image = ReturnType<typeof buildImage>;

/** Runs the steps of the Containerfile on the files that git would keep. Throws if a step fails. */
export function buildImage() {
  const folder = mkdtempSync(join(tmpdir(), "activity-image-"));
  const stages: { name: string; root: string }[] = [];
  const here = () => join(stages.at(-1)?.root ?? "", "app");
  const env: Record<string, string> = {};
  const [entrypoint, command]: [string[], string[]] = [[], []];
  const image = { env, user: "0:0", entrypoint, command };
  const instructions: Record<string, (rest: string) => void> = {
    FROM(rest) {
      const root = join(folder, `stage-${stages.length}`);
      stages.push({ name: / AS (\w+)$/.exec(rest)?.[1] ?? "", root });
      mkdirSync(join(root, "app"), { recursive: true });
    },
    COPY(rest) {
      if (rest !== ". .") return copyFromStage(rest, here(), stages);
      copyProject(here());
      // Sets the permissions of a checkout with umask 077.
      execFileSync("chmod", ["-R", "go=", here()]);
    },
    RUN(rest) {
      execFileSync("sh", ["-ec", rest], { cwd: here(), stdio: ["ignore", "ignore", "inherit"] });
    },
    ENV: (rest) =>
      Object.assign(env, Object.fromEntries(rest.split(" ").map((pair) => pair.split("=")))),
    USER: (rest) => Object.assign(image, { user: rest }),
    ENTRYPOINT: (rest) => Object.assign(image, { entrypoint: JSON.parse(rest) }),
    CMD: (rest) => Object.assign(image, { command: JSON.parse(rest) }),
    EXPOSE() {},
    "WORKDIR /app"() {},
  };
  for (const { instruction, rest } of readSteps()) {
    const run = instructions[instruction] ?? instructions[`${instruction} ${rest}`];
    if (run === undefined) throw new Error(`This harness does not know ${instruction} ${rest}.`);
    run(rest);
  }
  const remove = () => rmSync(folder, { recursive: true, force: true });
  // `app` is the folder for `/app`; `user` is user and group by number, as in `USER`.
  return { app: here(), ...image, remove };
}

function readSteps() {
  const text = readText("Containerfile")
    .replace(/^#.*\n/gm, "")
    .replaceAll("\\\n", " ");
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.map((line) => {
    const [, instruction = "", rest = ""] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
    return { instruction, rest };
  });
}

/** Copies files of an earlier stage. */
function copyFromStage(rest: string, into: string, stages: { name: string; root: string }[]) {
  const [, from, sources = "", target = ""] = /^--from=(\w+) (.*) (\S+)$/.exec(rest) ?? [];
  const root = stages.find(({ name }) => name === from)?.root ?? "";
  for (const source of sources.split(" ")) {
    const to = target.endsWith("/") ? join(target, basename(source)) : target;
    cpSync(join(root, source), join(into, to), { recursive: true, verbatimSymlinks: true });
  }
}

/**
 * Runs `command` with the image's entrypoint and user. The root is read-only, including /tmp. /app is writable, so only
 * the modes of its files protect it. The root has /app, the secrets, and this machine's system programs in place of the
 * base image.
 */
export function runInImage(
  image: Image,
  command: readonly string[],
  given: { env: Readonly<Record<string, string>>; secrets: string },
): Run {
  const env = Object.entries({ PATH: "/node:/usr/bin:/bin", ...image.env, ...given.env });
  const args = [
    ...["--mount", "--propagation", "private", "sh", "-ec", ENTER, "enter"],
    ...[image.app, dirname(process.execPath), given.secrets, image.user],
    ...["env", "-i", "-C", "/app", ...env.map(([name, value]) => `${name}=${value}`)],
    ...[...image.entrypoint, ...command],
  ];
  return watch(spawn("unshare", args));
}

/** Creates the root in its own mount namespace, then becomes the command. The namespace ends with the command. */
const ENTER = `
  app=$1 node=$2 secrets=$3 user=$4; shift 4
  root=/mnt
  mount -t tmpfs -o mode=755 tmpfs $root
  mkdir -p $root/app $root/node $root/run/secrets $root/proc $root/dev $root/usr $root/etc $root/tmp
  for link in bin sbin lib lib64; do if test -L /$link; then cp -P /$link $root/; fi; done
  bind() { mount --bind "$1" "$2"; mount -o remount,bind,ro "$2"; }
  # Writable, so that only the image's own modes keep its files.
  mount --bind "$app" $root/app
  bind "$node" $root/node
  bind "$secrets" $root/run/secrets
  bind /usr $root/usr
  bind /etc $root/etc
  mount --bind /proc $root/proc
  mount --bind /dev $root/dev
  mount -o remount,ro $root
  exec chroot --userspec="$user" $root "$@"
`;
