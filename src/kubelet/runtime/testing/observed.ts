import { containerHash } from '../container-hash.ts';
import type { ContainerRecord, PodRuntimeState, SandboxRecord } from '../pod-runtime-state.ts';

/** A sandbox as the runtime shows it; ready, first attempt, with an address. */
export function aSandbox(over: Partial<SandboxRecord> = {}): SandboxRecord {
  return {
    id: `sandbox-${over.attempt ?? 0}`,
    attempt: 0,
    ready: true,
    createdAtMs: 1000 + (over.attempt ?? 0),
    hostNetwork: false,
    ips: ['10.0.0.2'],
    ...over,
  };
}

/** A container as the runtime shows it; running, the image of `aPod`. */
export function aContainer(name: string, over: Partial<ContainerRecord> = {}): ContainerRecord {
  const restartCount = over.restartCount ?? 0;
  return {
    id: `${name}-${restartCount}`,
    name,
    phase: 'running',
    createdAtMs: 2000 + restartCount,
    startedAtMs: 2001 + restartCount,
    finishedAtMs: over.phase === 'exited' ? 3000 + restartCount : 0,
    exitCode: 0,
    reason: over.phase === 'exited' ? ((over.exitCode ?? 0) === 0 ? 'Completed' : 'Error') : '',
    message: '',
    image: 'docker.io/library/busybox:latest',
    imageId: 'sha256:1',
    hash: containerHash({ name, image: 'docker.io/library/busybox:latest' }),
    restartCount,
    logPath: `/logs/${name}/${restartCount}.log`,
    graceSeconds: undefined,
    preStopJson: undefined,
    size: undefined,
    ...over,
  };
}

export function observedOf(sandboxes: readonly SandboxRecord[], containers: readonly ContainerRecord[] = []): PodRuntimeState {
  return { uid: 'uid-of-web', namespace: 'default', name: 'web', sandboxes, containers };
}
