import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { runCommand } from "./run-command.ts";
import { StackError } from "./stack-error.ts";

const KEYRINGS = ["pgp", "gpg"].map(
  (ending) => `/usr/share/keyrings/debian-archive-keyring.${ending}`,
);
const SHOWN = "$(REPO_URI) $(RELEASE) $(COMPONENT)";

/** Tells whether this is Ubuntu. Some of its packages differ from Debian's. */
export async function isUbuntu(osRelease?: string): Promise<boolean> {
  return /^ID=ubuntu$/m.test(await readOsRelease(osRelease));
}

/** Returns the name of this machine's release, such as "debian-12". */
export async function readReleaseName(): Promise<string> {
  const text = await readOsRelease();
  const [id = "linux", version = "rolling"] = ["ID", "VERSION_ID"].map(
    (name) => new RegExp(`^${name}="?([\\w.-]+)`, "m").exec(text)?.[1],
  );
  return `${id}-${version}`;
}

/**
 * Returns the `sources.list` line of Debian unstable on this machine's mirror. Throws {@link StackError} if the machine
 * has no Debian mirror or no keys of Debian.
 */
export async function readUnstableSource(): Promise<string> {
  const keyring = KEYRINGS.find((path) => existsSync(path));
  if (keyring === undefined) {
    throw new StackError(
      "Debian's packages cannot be checked without its keys: install debian-archive-keyring and start again.",
    );
  }
  const [, codename = ""] = /^VERSION_CODENAME=(\S+)$/m.exec(await readOsRelease()) ?? [];
  const { lines } = await runCommand("apt-get", [
    ...["indextargets", "--no-release-info", "--format", SHOWN, "Created-By: Packages"],
  ]);
  const mirrors = lines
    .map((line) => line.split(" "))
    .filter(([, suite = ""]) => [codename, "stable", "testing", "unstable", "sid"].includes(suite))
    .filter(([uri = "", , component]) => component === "main" && /\/debian\/?$/.test(uri))
    .map(([uri = ""]) => uri)
    .filter((uri) => !uri.includes("snapshot"));
  // Prefers debian.org, because other vendors' sources also use Debian's suite names.
  const mirror = mirrors.find((uri) => /^[^/]+\/\/[^/]*debian\.org\//.test(uri)) ?? mirrors[0];
  if (mirror !== undefined) return `deb [signed-by=${keyring}] ${mirror} sid main\n`;
  throw new StackError(
    "This machine's apt sources name no Debian mirror to fetch unstable's packages from: install or name the program yourself.",
  );
}

function readOsRelease(path = "/etc/os-release"): Promise<string> {
  return readFile(path, "utf8").catch(() => "");
}
