import type { Lease } from '#api/types/coordination-v1.ts';
import type { ConfigMap, Container, Event, Namespace, Node, Pod, Secret, ServiceAccount } from '#api/types/core-v1.ts';
import type { RuntimeClass } from '#api/types/node-v1.ts';
import type { PriorityClass } from '#api/types/scheduling-v1.ts';

/** Every part of it may be left out; lists are given whole. */
export type DeepPartial<T> = T extends readonly unknown[] ? T : T extends object ? { readonly [K in keyof T]?: DeepPartial<T[K]> | undefined } : T;

/** A pod as the API server has it after defaulting, with one container `main`; override what the test is about. */
export function aPod(overrides: DeepPartial<Pod> = {}): Pod {
  return build<Pod>(
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: metadata('web', 'default'),
      spec: {
        containers: [aContainer()],
        restartPolicy: 'Always',
        terminationGracePeriodSeconds: 30,
        dnsPolicy: 'ClusterFirst',
        serviceAccountName: 'default',
        serviceAccount: 'default',
        securityContext: {},
        schedulerName: 'default-scheduler',
        enableServiceLinks: true,
        priority: 0,
        preemptionPolicy: 'PreemptLowerPriority',
      },
      status: { phase: 'Pending', qosClass: 'BestEffort' },
    },
    overrides,
  );
}

/** A container as the API server has it after defaulting. */
export function aContainer(overrides: DeepPartial<Container> = {}): Container {
  return build<Container>(
    {
      name: 'main',
      image: 'docker.io/library/busybox:latest',
      resources: {},
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      imagePullPolicy: 'IfNotPresent',
    },
    overrides,
  );
}

/** A ready node of 4 cores and 8 GiB. */
export function aNode(overrides: DeepPartial<Node> = {}): Node {
  const resources = { cpu: '4', memory: '8Gi', 'ephemeral-storage': '100Gi', pods: '110' };
  return build<Node>(
    {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { ...metadata('node-1'), labels: { 'kubernetes.io/hostname': 'node-1', 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' } },
      spec: { podCIDR: '10.64.0.0/24', podCIDRs: ['10.64.0.0/24'] },
      status: {
        capacity: resources,
        allocatable: resources,
        conditions: [
          {
            type: 'Ready',
            status: 'True',
            reason: 'KubeletReady',
            message: 'kubelet is posting ready status',
            lastTransitionTime: createdAt,
            lastHeartbeatTime: createdAt,
          },
        ],
        addresses: [
          { type: 'InternalIP', address: '10.0.0.1' },
          { type: 'Hostname', address: 'node-1' },
        ],
      },
    },
    overrides,
  );
}

export function aNamespace(overrides: DeepPartial<Namespace> = {}): Namespace {
  return build<Namespace>(
    { apiVersion: 'v1', kind: 'Namespace', metadata: metadata('default'), spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } },
    overrides,
  );
}

export function aConfigMap(overrides: DeepPartial<ConfigMap> = {}): ConfigMap {
  return build<ConfigMap>({ apiVersion: 'v1', kind: 'ConfigMap', metadata: metadata('settings', 'default'), data: { key: 'value' } }, overrides);
}

export function aSecret(overrides: DeepPartial<Secret> = {}): Secret {
  return build<Secret>(
    { apiVersion: 'v1', kind: 'Secret', metadata: metadata('secret', 'default'), type: 'Opaque', data: { key: 'dmFsdWU=' } },
    overrides,
  );
}

export function aServiceAccount(overrides: DeepPartial<ServiceAccount> = {}): ServiceAccount {
  return build<ServiceAccount>({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: metadata('default', 'default') }, overrides);
}

export function anEvent(overrides: DeepPartial<Event> = {}): Event {
  return build<Event>(
    {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: metadata('web.1', 'default'),
      involvedObject: { kind: 'Pod', namespace: 'default', name: 'web', apiVersion: 'v1' },
      reason: 'Started',
      message: 'Started container main',
      type: 'Normal',
      count: 1,
      firstTimestamp: createdAt,
      lastTimestamp: createdAt,
      source: { component: 'kubelet', host: 'node-1' },
      reportingComponent: 'kubelet',
      reportingInstance: 'node-1',
    },
    overrides,
  );
}

export function aLease(overrides: DeepPartial<Lease> = {}): Lease {
  return build<Lease>(
    {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: metadata('node-1', 'kube-node-lease'),
      spec: { holderIdentity: 'node-1', leaseDurationSeconds: 40, renewTime: '2026-01-02T03:04:05.000000Z' },
    },
    overrides,
  );
}

export function aPriorityClass(overrides: DeepPartial<PriorityClass> = {}): PriorityClass {
  return build<PriorityClass>(
    { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: metadata('high'), value: 1000, preemptionPolicy: 'PreemptLowerPriority' },
    overrides,
  );
}

export function aRuntimeClass(overrides: DeepPartial<RuntimeClass> = {}): RuntimeClass {
  return build<RuntimeClass>({ apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: metadata('sandboxed'), handler: 'runsc' }, overrides);
}

const createdAt = '2026-01-02T03:04:05Z';

function metadata(name: string, namespace: string): Pod['metadata'];
function metadata(name: string): Node['metadata'];
function metadata(name: string, namespace?: string) {
  const common = { name, uid: `uid-of-${name}`, resourceVersion: '1', creationTimestamp: createdAt };
  return namespace === undefined ? common : { ...common, namespace };
}

/** Objects are merged, everything else is replaced; `undefined` removes. */
function build<T extends object>(base: T, overrides: DeepPartial<T>): T {
  return merge(base, overrides) as T; // what was not overridden is in `base`; the overrides are parts of a T
}

function merge(base: unknown, override: unknown): unknown {
  if (!isRecord(base) || !isRecord(override)) return override;
  const merged = { ...base };
  for (const [key, value] of Object.entries(override)) {
    if (value === undefined) delete merged[key];
    else merged[key] = merge(base[key], value);
  }
  return merged;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
