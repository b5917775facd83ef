import type { KubeObject } from '#api/object.ts';
import type * as v1 from '#api/types/autoscaling-v1.ts';
import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerBehavior,
  HorizontalPodAutoscalerSpec,
  HorizontalPodAutoscalerStatus,
  MetricSpec,
} from '#api/types/autoscaling-v2.ts';
import { defaultAutoscaler } from './default-autoscaler.ts';
import { metricFromV1, metricStatusFromV1, metricStatusToV1, metricToV1 } from './metrics-v1.ts';

/** The first version has a field for the part of the CPU only; all else stands in annotations there. */
const annotation = {
  metrics: 'autoscaling.alpha.kubernetes.io/metrics',
  currentMetrics: 'autoscaling.alpha.kubernetes.io/current-metrics',
  conditions: 'autoscaling.alpha.kubernetes.io/conditions',
  behavior: 'autoscaling.alpha.kubernetes.io/behavior',
} as const;

/** Which of them tell the status, and which the spec. */
export const statusAnnotations: readonly string[] = [annotation.currentMetrics, annotation.conditions];
export const specAnnotations: readonly string[] = [annotation.metrics, annotation.behavior];

/** The object with some annotations as another one has them. */
export function withAnnotationsOf<T extends KubeObject>(object: T, source: T | undefined, keys: readonly string[]): T {
  const { annotations = {}, ...metadata } = object.metadata;
  const others = Object.entries(annotations).filter(([key]) => !keys.includes(key));
  const kept = Object.entries(source?.metadata.annotations ?? {}).filter(([key]) => keys.includes(key));
  const all = [...others, ...kept];
  return { ...object, metadata: all.length === 0 ? metadata : { ...metadata, annotations: Object.fromEntries(all) } };
}

export function autoscalerToV1(object: HorizontalPodAutoscaler): v1.HorizontalPodAutoscaler {
  const { scaleTargetRef, minReplicas, maxReplicas, metrics = [], behavior } = object.spec;
  const { currentMetrics = [], conditions = [], ...status } = object.status ?? { desiredReplicas: 0 };
  const cpu = metrics.find(isCpuPart);
  const currentCpu = currentMetrics.find(({ type, resource }) => type === 'Resource' && resource?.name === 'cpu')?.resource?.current;
  const others = metrics.filter((metric) => metric !== cpu);
  const annotations = {
    ...object.metadata.annotations,
    ...noted(annotation.metrics, others.map(metricToV1)),
    ...noted(annotation.currentMetrics, currentMetrics.map(metricStatusToV1)),
    ...noted(annotation.conditions, conditions),
    ...(behavior === undefined ? {} : { [annotation.behavior]: JSON.stringify(withKeys(behavior, upperFirst)) }),
  };
  const targetCPUUtilizationPercentage = cpu?.resource?.target.averageUtilization;
  const currentCPUUtilizationPercentage = currentCpu?.averageUtilization;
  return {
    ...object,
    apiVersion: 'autoscaling/v1',
    metadata: Object.keys(annotations).length === 0 ? object.metadata : { ...object.metadata, annotations },
    spec: {
      scaleTargetRef,
      ...(minReplicas === undefined ? {} : { minReplicas }),
      maxReplicas,
      ...(targetCPUUtilizationPercentage === undefined ? {} : { targetCPUUtilizationPercentage }),
    },
    status: {
      ...status,
      currentReplicas: status.currentReplicas ?? 0,
      ...(currentCPUUtilizationPercentage === undefined ? {} : { currentCPUUtilizationPercentage }),
    },
  };
}

export function autoscalerFromV1(object: v1.HorizontalPodAutoscaler): HorizontalPodAutoscaler {
  const { targetCPUUtilizationPercentage: target, ...kept } = object.spec ?? {};
  const { currentCPUUtilizationPercentage: current, ...status } = object.status ?? { currentReplicas: 0, desiredReplicas: 0 };
  const { annotations = {}, ...metadata } = object.metadata;
  const read = <T>(key: keyof typeof annotation): readonly T[] => readList<T>(annotations[annotation[key]]);
  const metrics = [...read<v1.MetricSpec>('metrics').map(metricFromV1), ...(target === undefined ? [] : [cpuPart(target)])];
  const behavior = readBehavior(annotations[annotation.behavior]);
  const noted = read<v1.MetricStatus>('currentMetrics').map(metricStatusFromV1);
  const measured =
    noted.length > 0 || current === undefined ? noted : [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: current } } }];
  const conditions = read<NonNullable<HorizontalPodAutoscalerStatus['conditions']>[number]>('conditions');
  const others = Object.entries(annotations).filter(([key]) => !Object.values<string>(annotation).includes(key));
  return defaultAutoscaler({
    ...object,
    apiVersion: 'autoscaling/v2',
    metadata: others.length === 0 ? metadata : { ...metadata, annotations: Object.fromEntries(others) },
    // A client may leave out what the type has; the rules say so to it.
    spec: { ...kept, ...(metrics.length === 0 ? {} : { metrics }), ...(behavior === undefined ? {} : { behavior }) } as HorizontalPodAutoscalerSpec,
    status: {
      ...status,
      ...(measured.length === 0 ? {} : { currentMetrics: measured }),
      ...(conditions.length === 0 ? {} : { conditions }),
    },
  });
}

function isCpuPart({ type, resource }: MetricSpec): boolean {
  return type === 'Resource' && resource?.name === 'cpu' && resource.target.averageUtilization !== undefined;
}

function cpuPart(averageUtilization: number): MetricSpec {
  return { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } };
}

function noted(key: string, list: readonly unknown[]): Readonly<Record<string, string>> {
  return list.length === 0 ? {} : { [key]: JSON.stringify(list) };
}

/** What cannot be read says nothing, as for upstream. */
function readList<T>(text: string | undefined): readonly T[] {
  const value = readJson(text);
  return Array.isArray(value) ? (value as readonly T[]) : []; // checked by the rules of the version that is stored
}

function readBehavior(text: string | undefined): HorizontalPodAutoscalerBehavior | undefined {
  const value = readJson(text);
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return undefined;
  return withKeys(value, lowerFirst) as HorizontalPodAutoscalerBehavior; // checked by the rules of the version that is stored
}

function readJson(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Upstream writes a behaviour in its own form, whose names begin with a capital letter. */
function withKeys(value: unknown, rename: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => withKeys(item, rename));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, item]) => item !== null && item !== undefined);
  return Object.fromEntries(entries.map(([key, item]) => [rename(key), withKeys(item, rename)]));
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
