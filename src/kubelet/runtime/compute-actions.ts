import type { Container, Pod } from '#api/types/core-v1.ts';
import { needsRestartToResize } from '../resources/resize/resize-texts.ts';
import { containerHash } from './container-hash.ts';
import { planInitContainers } from './init-actions.ts';
import type { ContainerKill, PodActions, ProbeVerdicts } from './pod-actions.ts';
import { type ContainerRecord, newestOf, type PodRuntimeState } from './pod-runtime-state.ts';
import { restartPolicyOf, shouldRestart, triggerOfRestartAll } from './restart-rules.ts';
import { decideSandbox } from './sandbox-decision.ts';

/** The decision table of the kubelet, as one function of spec, runtime and probes. */
export function computeActions(pod: Pod, observed: PodRuntimeState, verdicts: ProbeVerdicts): PodActions {
  const sandbox = decideSandbox(pod, observed);
  return sandbox.create ? withNewSandbox(pod, observed, sandbox) : withSandbox(pod, observed, verdicts, sandbox);
}

interface SandboxPlan {
  readonly attempt: number;
  readonly sandboxId: string | undefined;
}

function withNewSandbox(pod: Pod, observed: PodRuntimeState, sandbox: SandboxPlan): PodActions {
  const spec = pod.spec;
  const policy = restartPolicyOf(pod);
  const base = {
    killPod: true,
    createSandbox: true,
    sandboxChanged: sandbox.sandboxId !== undefined,
    attempt: sandbox.attempt,
    sandboxId: sandbox.sandboxId,
    kill: [],
    startEphemeral: [],
    startInit: [],
    startContainers: [],
    initialised: false,
  };
  const endOnly: PodActions = { ...base, createSandbox: false, sandboxChanged: false, initialised: true };
  if (policy === 'Never' && sandbox.attempt !== 0 && observed.containers.length > 0) return endOnly;
  const toStart = (spec?.containers ?? []).filter((container) => !(policy === 'OnFailure' && hasSucceeded(observed, container.name)));
  if (toStart.length === 0 && anyAppContainer(pod, observed)) return endOnly;
  const [first] = spec?.initContainers ?? [];
  if (first !== undefined) return { ...base, startInit: [first.name] };
  return { ...base, startContainers: toStart.map(({ name }) => name), initialised: true };
}

function withSandbox(pod: Pod, observed: PodRuntimeState, verdicts: ProbeVerdicts, sandbox: SandboxPlan): PodActions {
  if (triggerOfRestartAll(pod, observed) !== undefined) {
    const nothing = { kill: [], startEphemeral: [], startInit: [], startContainers: [], initialised: false };
    return {
      ...nothing,
      killPod: false,
      createSandbox: false,
      sandboxChanged: false,
      attempt: sandbox.attempt,
      sandboxId: sandbox.sandboxId,
      restartAll: true,
    };
  }
  const startEphemeral = (pod.spec?.ephemeralContainers ?? []).filter(({ name }) => newestOf(observed, name) === undefined).map(({ name }) => name);
  const init = planInitContainers(pod, observed, verdicts);
  const base = {
    killPod: init.killPod,
    createSandbox: false,
    sandboxChanged: false,
    attempt: sandbox.attempt,
    sandboxId: sandbox.sandboxId,
    kill: init.kill,
    startEphemeral,
    startInit: init.start,
    startContainers: [] as readonly string[],
    initialised: init.initialised,
  };
  if (init.killPod || !init.initialised) return base;
  let kept = 0;
  const kill = [...init.kill];
  const startContainers: string[] = [];
  for (const container of pod.spec?.containers ?? []) {
    const plan = planContainer(pod, container, newestOf(observed, container.name), verdicts);
    if (plan.kill !== undefined) kill.push(plan.kill);
    if (plan.start) startContainers.push(container.name);
    if (plan.keep) kept += 1;
  }
  if (kept === 0 && startContainers.length === 0) return { ...base, kill, killPod: true, startInit: [] };
  return { ...base, kill, startContainers };
}

interface ContainerPlan {
  readonly keep: boolean;
  readonly start: boolean;
  readonly kill?: ContainerKill;
}

function planContainer(pod: Pod, spec: Container, status: ContainerRecord | undefined, verdicts: ProbeVerdicts): ContainerPlan {
  if (status === undefined || status.phase !== 'running') {
    if (!shouldRestart(pod, spec, status)) return { keep: false, start: false };
    if (status?.phase !== 'unknown') return { keep: false, start: true };
    return { keep: false, start: true, kill: { container: status, message: 'Container is in "unknown" state, try killing it before restart' } };
  }
  if (status.hash !== '' && status.hash !== containerHash(spec)) {
    return { keep: false, start: true, kill: { container: status, message: `Container ${spec.name} definition changed, will be restarted` } };
  }
  if (needsRestartToResize(spec, status.size)) {
    return { keep: false, start: true, kill: { container: status, message: `Container ${spec.name} resize requires restart` } };
  }
  for (const probe of ['liveness', 'startup'] as const) {
    const declared = probe === 'liveness' ? spec.livenessProbe : spec.startupProbe;
    if (declared === undefined || verdicts(status.id, probe) !== 'failure') continue;
    const start = (spec.restartPolicy ?? restartPolicyOf(pod)) !== 'Never';
    const message = `Container ${spec.name} failed ${probe} probe${start ? ', will be restarted' : ''}`;
    return { keep: false, start, kill: { container: status, message, probe } };
  }
  return { keep: true, start: false };
}

function hasSucceeded(observed: PodRuntimeState, name: string): boolean {
  const status = newestOf(observed, name);
  return status?.phase === 'exited' && status.exitCode === 0;
}

function anyAppContainer(pod: Pod, observed: PodRuntimeState): boolean {
  return (pod.spec?.containers ?? []).some(({ name }) => newestOf(observed, name) !== undefined);
}
