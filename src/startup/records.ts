import { apiVersionOf } from '#api/kind.ts';
import type { Pod } from '#api/types/core-v1.ts';
import { type Milestones, type NodePart, type PodStartup, type PodStartupBatch, podStartups } from './pod-startup.ts';

type Listener = (record: PodStartup) => void;

/**
 * The start-up records that the API server serves: a bounded ring in memory, the newest change last. Nodes bring their steps, the pods
 * themselves the moments outside a node.
 */
export class StartupRecords {
  readonly #records = new Map<string, PodStartup>();
  readonly #listeners = new Set<Listener>();
  readonly #keep: number;
  readonly #sinceMs: number;

  /** @param sinceMs epoch: of pods that are older, the moments that were reached before are not known */
  constructor(keep: number, sinceMs: number) {
    this.#keep = keep;
    this.#sinceMs = sinceMs;
  }

  get isWatched(): boolean {
    return this.#listeners.size > 0;
  }

  /** Takes what a node sent. */
  addBatch(batch: PodStartupBatch): void {
    for (const part of batch.items) this.#addPart(batch.nodeName, part);
  }

  /** Notes which moments the pod has reached, at `atMs`; a moment that is known stays. */
  seePod(pod: Pod, atMs: number): void {
    const isOlder = Date.parse(pod.metadata.creationTimestamp) + 1000 < this.#sinceMs; // the timestamp has whole seconds
    if (isOlder) return;
    const before = this.#records.get(pod.metadata.uid) ?? emptyRecord(pod.metadata);
    const reached: Milestones = {
      stored: atMs,
      ...(pod.spec?.nodeName ? { assigned: atMs } : {}),
      ...(pod.status?.phase === 'Running' ? { running: atMs } : {}),
      ...(pod.status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') ? { firstReady: atMs } : {}),
    };
    const milestones = { ...reached, ...before.milestones };
    if (Object.keys(milestones).length === Object.keys(before.milestones).length) return;
    const metadata = { ...before.metadata, creationTimestamp: pod.metadata.creationTimestamp };
    this.#put({ ...before, metadata, nodeName: pod.spec?.nodeName ?? before.nodeName, milestones });
  }

  list(namespace: string | undefined): readonly PodStartup[] {
    return [...this.#records.values()].filter((record) => namespace === undefined || record.metadata.namespace === namespace);
  }

  /** The newest pod of that name. */
  get(namespace: string, name: string): PodStartup | undefined {
    return this.list(namespace).findLast((record) => record.metadata.name === name);
  }

  /** Called with each record that changed; the result unsubscribes. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #addPart(nodeName: string, part: NodePart): void {
    const before = this.#records.get(part.uid) ?? emptyRecord(part);
    const milestones = { ...before.milestones, seenByKubelet: before.milestones.seenByKubelet ?? part.seenByKubeletMs };
    this.#put({ ...before, nodeName, milestones, steps: part.steps, pulls: part.pulls });
  }

  #put(record: PodStartup): void {
    this.#records.delete(record.metadata.uid); // a changed record moves to the end
    this.#records.set(record.metadata.uid, record);
    for (const oldest of this.#records.keys()) {
      if (this.#records.size <= this.#keep) break;
      this.#records.delete(oldest);
    }
    for (const listener of [...this.#listeners]) listener(record);
  }
}

function emptyRecord(pod: { readonly namespace: string; readonly name: string; readonly uid: string }): PodStartup {
  const { namespace, name, uid } = pod;
  const metadata = { namespace, name, uid, resourceVersion: '', creationTimestamp: '' };
  return { apiVersion: apiVersionOf(podStartups), kind: podStartups.kind, metadata, nodeName: '', milestones: {}, steps: [] };
}
