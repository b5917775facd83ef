import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type ProgramResult, type RunOptions, runProgram } from '#testing/run-program.ts';

/** The ages of kubectl that the set-up fetches. */
export const kubectlVersions = ['1.20', '1.28', '1.35'] as const;
export type KubectlVersion = (typeof kubectlVersions)[number];

export type Kubectl = (words: string | readonly string[], options?: RunOptions) => Promise<ProgramResult>;

const defaultTimeoutMs = 60_000;

/** @returns kubectl of that age, speaking to the cluster of the kubeconfig. Words may be one string, split at spaces */
export function kubectlOf(kubeconfig: string, version: KubectlVersion = '1.35', timeoutMs = defaultTimeoutMs): Kubectl {
  const program = kubectlPath(version);
  return (words, options) => {
    const args = typeof words === 'string' ? words.split(' ') : words;
    return runProgram([program, '--kubeconfig', kubeconfig, ...args], timeoutMs, {
      ...options,
      env: { HOME: kubectlHome(kubeconfig), ...options?.env },
    });
  };
}

/** Where kubectl keeps what it knows of the server: goes with the cluster, whose port another one may have next. */
export function kubectlHome(kubeconfig: string): string {
  return `${kubeconfig}.home`;
}

export function kubectlPath(version: KubectlVersion): string {
  const path = fileURLToPath(new URL(`../../.cache/tools/kubectl-${version}/kubectl`, import.meta.url));
  if (!existsSync(path)) throw new Error(`kubectl ${version} is not there: run ./scripts/setup.sh --tests`);
  return path;
}

/** Helm 4, speaking to the cluster of the kubeconfig. Its files stay in the folder that is given. */
export function helmOf(kubeconfig: string, folder: string, timeoutMs = defaultTimeoutMs): Kubectl {
  const program = fileURLToPath(new URL('../../.cache/tools/helm/helm', import.meta.url));
  if (!existsSync(program)) throw new Error('helm is not there: run ./scripts/setup.sh --tests');
  return (words, options) => {
    const args = typeof words === 'string' ? words.split(' ') : words;
    const env = {
      HELM_CACHE_HOME: `${folder}/cache`,
      HELM_CONFIG_HOME: `${folder}/config`,
      HELM_DATA_HOME: `${folder}/data`,
      KUBECONFIG: kubeconfig,
    };
    return runProgram([program, ...args], timeoutMs, { ...options, env: { ...env, ...options?.env } });
  };
}

/** The output of a command that must succeed. */
export function outputOf(result: ProgramResult): string {
  if (result.code !== 0) throw new Error(`exit code ${result.code}: ${result.stderr.trim()}\n${result.stdout.trim()}`);
  return result.stdout;
}
