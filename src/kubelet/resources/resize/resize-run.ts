import { quantityToNumber } from '#api/quantity.ts';
import type { Container, Pod } from '#api/types/core-v1.ts';
import { AppError } from '#base/errors.ts';
import { Unsupported } from '#wire/cri/errors.ts';
import { LinuxContainerResources } from '#wire/generated/cri.ts';
import type { CgroupSettings, CgroupsPort } from '../../ports/cgroups.ts';
import type { RuntimePort } from '../../ports/runtime.ts';
import { formatPod, refOf } from '../../runtime/pod-ref.ts';
import { newestOf, type PodRuntimeState } from '../../runtime/pod-runtime-state.ts';
import { sandboxResources } from '../../runtime/sandbox-resources.ts';
import type { NodeCgroupOptions } from '../cgroup-options.ts';
import { podCgroupSettings } from '../cgroup-settings.ts';
import { containerResources } from '../container-resources.ts';
import { MIN_CPU_SHARES } from '../cpu.ts';
import { planResize, type ResizeAction, type ResizedContainer } from './plan-resize.ts';
import { needsRestartToResize, restartsFor } from './resize-texts.ts';
import type { SizeRecords } from './size-records.ts';
import { type Size, sizeOf, withSize } from './sizes.ts';

export interface ResizeRunDeps {
  readonly records: SizeRecords;
  readonly cgroups: Pick<CgroupsPort, 'read' | 'ensure' | 'memoryUsageBytes'>;
  readonly runtime: Pick<RuntimePort, 'updateContainerResources' | 'updatePodSandboxResources'>;
  readonly options: Pick<NodeCgroupOptions, 'pod' | 'container' | 'isPerQos'>;
}

/** The resize is not possible as things are; it may be a little later. */
export class ResizeRefused extends AppError {
  readonly code = 'RESIZE_REFUSED';
  readonly retry = 'backoff';
}

/** One try to bring a pod's cgroups and containers to the sizes that it was given. */
export class ResizeRun {
  readonly #deps: ResizeRunDeps;
  readonly #pod: Pod;
  readonly #cgroupPath: string;
  readonly #sandboxId: string | undefined;
  readonly #containers: readonly (ResizedContainer & { readonly container: Container })[];

  constructor(deps: ResizeRunDeps, pod: Pod, observed: PodRuntimeState, cgroupPath: string) {
    this.#deps = deps;
    this.#pod = pod;
    this.#cgroupPath = cgroupPath;
    this.#sandboxId = observed.sandboxes.find(({ ready }) => ready)?.id;
    const containers = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])];
    this.#containers = containers.flatMap((container) => {
      const record = newestOf(observed, container.name);
      if (record?.phase !== 'running') return []; // it gets its size when it is made
      const wanted = sizeOf(container.resources);
      const actual = deps.records.actualOf(pod.metadata.uid, record) ?? wanted;
      return [{ container, id: record.id, name: container.name, actual, wanted, restartsFor: restartsFor(container) }];
    });
  }

  /** @returns `restarts`: the rest has to wait until containers have been started anew @throws {ResizeRefused} and errors of runtime and kernel */
  async run(signal: AbortSignal): Promise<'done' | 'nothing' | 'restarts'> {
    const { cgroups, options } = this.#deps;
    const now = options.isPerQos ? await cgroups.read(this.#cgroupPath, signal) : undefined;
    const wanted = now === undefined ? {} : podCgroupSettings(this.#pod, options.pod);
    const none = { cpuShares: 0, cpuQuotaUs: -1, cpuPeriodUs: 0, memoryLimitBytes: -1 };
    const awaitsRestart = this.#containers.some(({ container, actual }) => needsRestartToResize(container, actual));
    // A container that is still to be restarted may need what its pod has now.
    const plan = planResize(now ?? none, wanted, this.#containers).filter(
      (action) => !(awaitsRestart && action.kind === 'pod' && action.direction === 'down'),
    );
    await this.#checkMemory(plan, signal);
    let has: CgroupSettings = now ?? none;
    for (const action of plan) {
      if (action.kind === 'pod') has = await this.#resizePod(action.settings, has, signal);
      else await this.#resizeContainer(action, signal);
    }
    if (awaitsRestart) return 'restarts';
    return plan.length === 0 ? 'nothing' : 'done';
  }

  async #resizeContainer(action: Extract<ResizeAction, { kind: 'container' }>, signal: AbortSignal): Promise<void> {
    const { runtime, records, options } = this.#deps;
    const container = this.#containers.find(({ id }) => id === action.id)?.container;
    if (container === undefined) return;
    const resources = withSize(container.resources, action.size);
    await runtime.updateContainerResources(action.id, containerResources(this.#pod, { ...container, resources }, options.container), signal);
    await records.given(this.#pod.metadata.uid, action.id, action.size, signal);
  }

  /** The runtime knows before the kernel does, and is told back when the kernel refuses. @returns what the cgroup has now */
  async #resizePod(settings: CgroupSettings, before: CgroupSettings, signal: AbortSignal): Promise<CgroupSettings> {
    const after = { ...before, ...Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) };
    await this.#tellSandbox(after, signal);
    try {
      await this.#deps.cgroups.ensure(this.#cgroupPath, settings, signal);
      return after;
    } catch (error) {
      await this.#tellSandbox(before, signal);
      throw error;
    }
  }

  /** A runtime that knows no such call sizes nothing by its pods. */
  async #tellSandbox(limits: CgroupSettings, signal: AbortSignal): Promise<void> {
    if (this.#sandboxId === undefined) return;
    const { overhead } = sandboxResources(this.#pod, this.#deps.options.container);
    try {
      await this.#deps.runtime.updatePodSandboxResources(this.#sandboxId, sandboxShare(limits, overhead), overhead, signal);
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error;
    }
  }

  /** The kernel would kill what is above a new limit, or refuse it halfway. */
  async #checkMemory(plan: readonly ResizeAction[], signal: AbortSignal): Promise<void> {
    const lowered = (what: string, limit: number, usage: number | undefined) => {
      if (usage === undefined) throw new ResizeRefused({ message: `unable to read memory usage for pod "${formatPod(refOf(this.#pod))}"` });
      if (usage < limit) return;
      const text = `attempting to set ${what} memory limit (${limit}) below current usage (${usage})`;
      throw new ResizeRefused({ message: `cannot decrease memory limits: ${text}` });
    };
    for (const action of plan) {
      if (action.kind === 'pod' && action.direction === 'down' && action.settings.memoryLimitBytes !== undefined) {
        lowered('pod', action.settings.memoryLimitBytes, await this.#deps.cgroups.memoryUsageBytes(this.#cgroupPath, signal));
      }
    }
    for (const { id, name, actual, wanted, restartsFor: restarts } of this.#containers) {
      const limit = memoryLimit(wanted);
      if (limit === undefined || restarts.includes('memory') || limit >= (memoryLimit(actual) ?? Number.POSITIVE_INFINITY)) continue;
      const usage = await this.#containerUsage(id, signal);
      if (usage !== undefined) lowered(`container "${name}"`, limit, usage);
    }
  }

  /** Below the pod's cgroup, by the id (cgroupfs) or as a scope (systemd). */
  async #containerUsage(id: string, signal: AbortSignal): Promise<number | undefined> {
    if (this.#cgroupPath === '') return undefined;
    const { cgroups } = this.#deps;
    const path = this.#cgroupPath.endsWith('.slice') ? `${this.#cgroupPath}/cri-containerd-${id}.scope` : `${this.#cgroupPath}/${id}`;
    return await cgroups.memoryUsageBytes(path, signal);
  }
}

/** What the pod's cgroup has, without what is the sandbox's own. */
function sandboxShare({ cpuShares = 0, cpuQuotaUs = 0, cpuPeriodUs = 0, memoryLimitBytes = 0 }: CgroupSettings, overhead: LinuxContainerResources) {
  const without = (amount: number, part: number) => (amount > 0 ? Math.max(0, amount - part) : 0);
  return LinuxContainerResources.create({
    cpuShares: without(cpuShares, overhead.cpuShares > MIN_CPU_SHARES ? overhead.cpuShares : 0),
    cpuQuota: without(cpuQuotaUs, overhead.cpuQuota),
    cpuPeriod: cpuPeriodUs,
    memoryLimitInBytes: without(memoryLimitBytes, overhead.memoryLimitInBytes),
  });
}

function memoryLimit({ limits: { memory } }: Size): number | undefined {
  return memory === undefined ? undefined : quantityToNumber(memory);
}
