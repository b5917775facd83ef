import type { Registry } from 'prom-client';
import type { Clock } from '#base/clock.ts';
import { NamespaceMode, type PodSandboxConfig } from '#wire/generated/cri.ts';
import type { RuntimeEvent, RuntimePort } from '../ports/runtime.ts';
import { counter, histogram } from './families.ts';

/** The same runtime; its calls are counted and timed, under upstream's names. */
export function withRuntimeMetrics(runtime: RuntimePort, registry: Registry, clock: Clock): RuntimePort {
  const record = callRecorder(registry);
  const sandboxes = sandboxRecorder(registry);
  const events = eventsRecorder(registry);
  const wrapped = new Map<PropertyKey, unknown>();
  return new Proxy(runtime, {
    get(target, property) {
      if (wrapped.has(property)) return wrapped.get(property);
      const member: unknown = Reflect.get(target, property, target);
      if (typeof member !== 'function') return member;
      const operation = operationOf(String(property));
      const call = async (...args: readonly unknown[]) => {
        const startedAt = clock.monotonic();
        const end = property === 'runPodSandbox' ? sandboxes(args) : undefined;
        let failed = true;
        try {
          const result: unknown = await Reflect.apply(member, target, args);
          failed = false;
          return result;
        } finally {
          const seconds = (clock.monotonic() - startedAt) / 1000;
          record(operation, seconds, failed);
          end?.(seconds, failed);
        }
      };
      const own = property === 'events' ? (signal: AbortSignal) => events(target.events(signal), signal) : call;
      wrapped.set(property, own);
      return own;
    },
  });
}

function callRecorder(registry: Registry) {
  const labels = ['operation_type'] as const;
  const buckets = Array.from({ length: 14 }, (_, power) => 0.005 * 2.5 ** power);
  const total = counter(registry, 'kubelet_runtime_operations_total', 'Calls to the container runtime', labels);
  const errors = counter(registry, 'kubelet_runtime_operations_errors_total', 'Calls to the container runtime that failed', labels);
  const seconds = histogram(registry, 'kubelet_runtime_operations_duration_seconds', 'Duration of calls to the container runtime', labels, buckets);
  return (operation_type: string, tookSeconds: number, failed: boolean): void => {
    total.inc({ operation_type });
    seconds.observe({ operation_type }, tookSeconds);
    if (failed) errors.inc({ operation_type });
  };
}

/** Sandboxes are pods that start. */
function sandboxRecorder(registry: Registry) {
  const labels = ['runtime_handler'] as const;
  const duration = histogram(registry, 'kubelet_run_podsandbox_duration_seconds', 'Duration of RunPodSandbox by runtime handler', labels);
  const errors = counter(registry, 'kubelet_run_podsandbox_errors_total', 'RunPodSandbox calls that failed by runtime handler', labels);
  const pods = counter(registry, 'kubelet_started_pods_total', 'Pods whose sandbox was asked for');
  const podErrors = counter(registry, 'kubelet_started_pods_errors_total', 'Pods whose sandbox could not be made');
  const mapped = counter(registry, 'kubelet_started_user_namespaced_pods_total', 'Pods with users of their own whose sandbox was asked for');
  const mappedErrors = counter(registry, 'kubelet_started_user_namespaced_pods_errors_total', 'Those whose sandbox could not be made');
  return (args: readonly unknown[]) => {
    const [config, runtime_handler] = args as readonly [PodSandboxConfig, string]; // the arguments of `runPodSandbox`
    const hasUsers = config.linux?.securityContext?.namespaceOptions?.usernsOptions?.mode === NamespaceMode.POD;
    pods.inc();
    if (hasUsers) mapped.inc();
    return (tookSeconds: number, failed: boolean): void => {
      duration.observe({ runtime_handler }, tookSeconds);
      if (!failed) return;
      errors.inc({ runtime_handler });
      podErrors.inc();
      if (hasUsers) mappedErrors.inc();
    };
  };
}

/** Our list of pods follows the runtime's events as upstream's evented one does. */
function eventsRecorder(registry: Registry) {
  const connections = counter(registry, 'kubelet_evented_pleg_connection_success_count', 'Times that the events of the runtime could be followed');
  const errors = counter(
    registry,
    'kubelet_evented_pleg_connection_error_count',
    'Times that the events of the runtime could not, or no longer, be followed',
  );
  return async function* counted(events: AsyncIterable<RuntimeEvent>, signal: AbortSignal): AsyncGenerator<RuntimeEvent, void, void> {
    try {
      for await (const event of events) {
        if (event.kind === 'connected') connections.inc();
        yield event;
      }
    } catch (error) {
      if (!signal.aborted) errors.inc();
      throw error;
    }
  };
}

/** `runPodSandbox` is `run_podsandbox`: upstream takes that for one word, and plurals for lists of it. */
function operationOf(method: string): string {
  const known = names[method];
  return known ?? method.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

const names: Readonly<Record<string, string>> = {
  runPodSandbox: 'run_podsandbox',
  stopPodSandbox: 'stop_podsandbox',
  removePodSandbox: 'remove_podsandbox',
  podSandboxStatus: 'podsandbox_status',
  listPodSandboxes: 'list_podsandbox',
  updateContainerResources: 'update_container',
  cgroupDriver: 'runtime_config',
};
