import type { Registry } from 'prom-client';
import type { Pod } from '#api/types/core-v1.ts';
import type { ProbeKind } from '../ports/probes.ts';
import type { ProbeOutcome } from '../probes/run-probe.ts';
import { counter, histogram } from './families.ts';

/** Told of every time that a container was probed. */
export interface ProbeCounts {
  probed(pod: Pod, container: string, kind: ProbeKind, outcome: ProbeOutcome['kind'], tookMs: number): void;
  /** No more is told of the pod: its series go. */
  gone(pod: Pod): void;
}

/** What `/metrics/probes` shows. */
export function createProbeMetrics(registry: Registry): ProbeCounts {
  const names = ['probe_type', 'container', 'pod', 'namespace'] as const;
  const total = counter(registry, 'prober_probe_total', 'Probes of containers by their result', [...names, 'result', 'pod_uid']);
  const seconds = histogram(registry, 'prober_probe_duration_seconds', 'Duration of probes that did not fail', names);
  const known = new Map<string, Map<string, Readonly<Record<(typeof names)[number], string>>>>();
  return {
    probed({ metadata: { name: pod, namespace = '', uid } }, container, kind, outcome, tookMs) {
      const probe_type = typeOf[kind];
      const labels = { probe_type, container, pod, namespace };
      const result = resultOf[outcome];
      total.inc({ ...labels, result, pod_uid: uid });
      if (result !== 'failed') seconds.observe(labels, tookMs / 1000);
      const ofPod = known.get(uid) ?? new Map();
      known.set(uid, ofPod.set(`${container}/${kind}`, labels));
    },
    gone({ metadata: { uid } }) {
      for (const labels of known.get(uid)?.values() ?? []) {
        seconds.remove(labels);
        for (const result of new Set(Object.values(resultOf))) total.remove({ ...labels, result, pod_uid: uid });
      }
      known.delete(uid);
    },
  };
}

const typeOf: Readonly<Record<ProbeKind, string>> = { startup: 'Startup', readiness: 'Readiness', liveness: 'Liveness' };

const resultOf: Readonly<Record<ProbeOutcome['kind'], string>> = {
  success: 'successful',
  'success-with-warning': 'successful',
  failure: 'failed',
  error: 'unknown',
};
