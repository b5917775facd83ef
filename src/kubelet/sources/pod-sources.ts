import type { Node, Pod } from '#api/types/core-v1.ts';
import { messageOf } from '#base/errors.ts';
import { TaskGroup } from '#base/task-group.ts';
import { Cell, type Watchable } from '#base/watchable.ts';
import type { Informer, ObjectChange } from '#client/informer-port.ts';
import { microTimestamp } from '#client/timestamps.ts';
import type { KubeletConfig, KubeletHost } from '../kubelet-config.ts';
import type { PodWorkers } from '../pod-workers/pod-workers.ts';
import type { EventsPort } from '../ports/events.ts';
import { formatPod, refOf } from '../runtime/pod-ref.ts';
import type { StatusManager } from '../status/status-manager.ts';
import { followPods } from './api-source.ts';
import { FileSource } from './file-source.ts';
import { MirrorPods } from './mirror-pods.ts';
import { staticAnnotation } from './static-annotations.ts';
import { type SetChange, StaticSet } from './static-set.ts';
import { UrlSource } from './url-source.ts';

export interface PodSourcesParts {
  readonly workers: Pick<PodWorkers, 'upsert' | 'removed' | 'isEnding' | 'subscribe'>;
  readonly status: Pick<StatusManager, 'seen' | 'mirrorGone'>;
  readonly events: EventsPort;
  /** As the API server has it; `undefined` until it is registered. */
  readonly node: Watchable<Node | undefined>;
}

type SourcesConfig = Pick<KubeletConfig, 'nodeName' | 'configuration'>;
type SourcesHost = Pick<KubeletHost, 'client' | 'clock' | 'logger' | 'files' | 'folderWatch' | 'manifests'>;
type StaticKind = 'file' | 'http';

export interface PodSources {
  /** Begins with the pods of the node's own manifests, until it is closed. They need no API server. */
  followManifests(): void;
  /** Begins with the pods of the API server, when its first list is there. */
  followApi(informer: Informer<Pod>): void;
  /** Whether every source has told what it has: before that nobody knows what belongs to nothing. */
  readonly ready: Watchable<boolean>;
  /** How many mirrors the API server has. */
  readonly mirrors: () => number;
  close(): Promise<void>;
}

/** All that tell the node which pods it has, and the mirrors of those that the API server does not know by itself. */
export function createPodSources(config: SourcesConfig, host: SourcesHost, { workers, status, events, node }: PodSourcesParts): PodSources {
  const { client, clock, logger } = host;
  const tasks = new TaskGroup((what, error) => logger.error('a source of pods broke', { what, error: messageOf(error) }));
  const sources = manifestSources(config, host);
  const awaited = new Set<string>(['api', ...sources.map(({ kind }) => kind)]);
  const ready = new Cell(false);
  const mirrors = new MirrorPods({
    client,
    clock,
    logger,
    tasks,
    node: () => node.get(),
    isEnding: (namespace, name) => workers.isEnding(namespace, name),
    isReady: () => ready.get(),
  });
  const unsubscribes = [workers.subscribe(() => mirrors.lookAtAll()), node.subscribe(() => mirrors.lookAtAll())];
  const isSeen = (source: string) => {
    if (!awaited.delete(source) || awaited.size > 0) return;
    ready.set(true);
    mirrors.lookAtAll();
  };

  /** Mirrors by the uid of their static pod. */
  const shown = new Map<string, Pod>();

  const deliver = (kind: StaticKind, { removed, changed, duplicates }: SetChange) => {
    for (const pod of duplicates) {
      const message = `Error validating pod ${formatPod(refOf(pod))} from ${kind} due to duplicate pod name "${pod.metadata.name}", ignoring`;
      events.emit(refOf(pod), { type: 'Warning', reason: 'FailedValidation', message });
    }
    for (const pod of removed) {
      workers.removed(pod.metadata.uid);
      mirrors.staticGone(pod);
    }
    for (const pod of changed) {
      workers.upsert(pod);
      mirrors.staticSeen(pod);
      const mirror = shown.get(pod.metadata.uid);
      if (mirror !== undefined) status.seen(mirror, pod.metadata.uid); // it was there before the pod
    }
    isSeen(kind);
  };

  const mirrorChanged = ({ type, object }: ObjectChange<Pod>, mirrored: string) => {
    if (type === 'deleted') {
      shown.delete(mirrored);
      status.mirrorGone(mirrored);
      mirrors.mirrorGone(object);
    } else {
      shown.set(mirrored, object);
      status.seen(object, mirrored);
      mirrors.mirrorSeen(object);
    }
  };

  return {
    ready,
    mirrors: () => shown.size,
    followManifests() {
      for (const { kind, run } of sources) {
        const set = new StaticSet();
        tasks.run(`manifests of ${kind}`, (signal) => run((pods) => deliver(kind, set.replace(pods, microTimestamp(clock.now()))), signal));
      }
    },
    followApi(informer) {
      const unsubscribe = followPods(informer, (change) => {
        const mirrored = change.object.metadata.annotations?.[staticAnnotation.mirror];
        if (mirrored !== undefined) mirrorChanged(change, mirrored);
        else if (change.type === 'deleted') workers.removed(change.object.metadata.uid);
        else workers.upsert(change.object);
      });
      unsubscribes.push(unsubscribe);
      isSeen('api');
    },
    async close() {
      for (const unsubscribe of unsubscribes) unsubscribe();
      await tasks.close();
    },
  };
}

interface ManifestSource {
  readonly kind: StaticKind;
  run(deliver: (pods: readonly Pod[]) => void, signal: AbortSignal): Promise<void>;
}

function manifestSources({ nodeName, configuration }: SourcesConfig, host: SourcesHost): readonly ManifestSource[] {
  const { staticPodPath: path, staticPodURL: url, staticPodURLHeader, fileCheckFrequency, httpCheckFrequency } = configuration;
  const file = new FileSource({ ...host, nodeName, path, everyMs: fileCheckFrequency });
  const http = new UrlSource({ ...host, nodeName, url, headers: new Map(Object.entries(staticPodURLHeader)), everyMs: httpCheckFrequency });
  const all: readonly ManifestSource[] = [
    { kind: 'file', run: (deliver, signal) => file.run(deliver, signal) },
    { kind: 'http', run: (deliver, signal) => http.run(deliver, signal) },
  ];
  return all.filter(({ kind }) => (kind === 'file' ? path : url) !== '');
}
