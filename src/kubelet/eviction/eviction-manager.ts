import type { Pod } from '#api/types/core-v1.ts';
import type { Clock } from '#base/clock.ts';
import { messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import type { Cell } from '#base/watchable.ts';
import type { FilesystemLayout, PodUsage, StatsPort } from '../ports/stats.ts';
import { isCritical } from '../resources/critical.ts';
import type { Refusal } from '../status/compute-pod-status.ts';
import { type EvictionNote, evictionNote } from './eviction-message.ts';
import { type EvictionState, isMet, judge, nothingSeen } from './judge.ts';
import { type LocalStorageBreach, localStorageBreach } from './local-storage.ts';
import { rank } from './rank.ts';
import { reclaims } from './reclaims.ts';
import { type Observations, observe, type PressureType, type Signal, signals } from './signals.ts';
import { type Threshold, withContainerFilesystem } from './thresholds.ts';

export interface EvictionSettings {
  readonly thresholds: readonly Threshold[];
  /** A pressure is told for so long after it was seen last. */
  readonly transitionMs: number;
  /** The most that a pod gets when a soft threshold puts it out. */
  readonly maxPodGraceSeconds: number;
  /** Whether pods are held to the limits of their own local storage. */
  readonly limitsLocalStorage: boolean;
  readonly everyMs: number;
}

export interface EvictionDeps {
  readonly settings: EvictionSettings;
  /** Told what the node is short of. */
  readonly pressures: Cell<readonly PressureType[]>;
  readonly stats: StatsPort;
  /** Those that hold something of the node. */
  readonly pods: () => readonly Pod[];
  /** Stops a pod and waits until nothing of it runs, within reason. */
  readonly putOut: (pod: Pod, refusal: Refusal, graceSeconds: number, signal: AbortSignal) => Promise<unknown>;
  /** Waits until the pod holds nothing any more, within reason. */
  readonly untilStopped: (pod: Pod, signal: AbortSignal) => Promise<unknown>;
  readonly removeDeadContainers: (signal: AbortSignal) => Promise<unknown>;
  readonly removeUnusedImages: (signal: AbortSignal) => Promise<unknown>;
  /** Events: on the node, and on a pod that goes. */
  readonly tellNode: (reason: string, message: string) => void;
  readonly tellPod: (pod: Pod, note: EvictionNote) => void;
  /** @param atMs when the figures that decided were read; absent: now */
  readonly count: (signal: Signal | LocalStorageBreach['signal'], atMs?: number) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Hard evictions are not gentle. Upstream's number. */
const hardGraceSeconds = 1;

/** Puts pods out before the node runs out of something that none of them could live without. */
export class EvictionManager {
  readonly #deps: EvictionDeps;
  #state: EvictionState = nothingSeen;

  constructor(deps: EvictionDeps) {
    this.#deps = deps;
  }

  /** Looks again and again until the signal is aborted; after an eviction at once, when its pods have given back what they held. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger, settings, untilStopped } = this.#deps;
    while (!signal.aborted) {
      let evicted: readonly Pod[] = [];
      try {
        evicted = await this.look(signal);
        await Promise.all(evicted.map((pod) => untilStopped(pod, signal)));
      } catch (error) {
        if (!signal.aborted) logger.warn('eviction could not look at the node', { error: messageOf(error) });
      }
      if (evicted.length === 0) await clock.sleep(settings.everyMs, signal).catch(() => undefined); // the loop's condition sees the abort
    }
  }

  /** @returns the pods that were put out */
  async look(signal: AbortSignal): Promise<readonly Pod[]> {
    const { settings, stats, pressures, clock, tellNode } = this.#deps;
    if (settings.thresholds.length === 0 && !settings.limitsLocalStorage) return [];
    const active = this.#deps.pods();
    const [node, podUsages] = await Promise.all([stats.node(signal), stats.pods(signal)]);
    const usages = new Map(podUsages.map((usage) => [usage.uid, usage]));
    const observations = observe(node);
    const thresholds = withContainerFilesystem(settings.thresholds, node.layout);
    const verdict = judge(thresholds, observations, this.#state, clock.now(), settings.transitionMs);
    this.#state = verdict.state;
    if (verdict.pressures.join() !== pressures.get().join()) pressures.set(verdict.pressures);
    if (settings.limitsLocalStorage) {
      const evicted = await this.#evictBreaches(active, usages, node.layout, signal);
      if (evicted.length > 0) return evicted;
    }
    const [worst] = verdict.toReclaim;
    if (worst === undefined) return [];
    tellNode('EvictionThresholdMet', `Attempting to reclaim ${signals[worst.signal].resource}`);
    if (await this.#reclaim(worst.signal, node.layout, thresholds, signal)) return [];
    const ranked = rank(active, usages, worst.signal, node.layout);
    return await this.#evictFirst(ranked, worst, verdict.toReclaim, observations, usages, signal);
  }

  /** @returns whether the node has enough again without any pod going */
  async #reclaim(signal: Signal, layout: FilesystemLayout, thresholds: readonly Threshold[], abort: AbortSignal): Promise<boolean> {
    const { removeDeadContainers, removeUnusedImages, logger, stats } = this.#deps;
    const kinds = reclaims(signal, layout);
    if (kinds.length === 0) return false;
    for (const kind of kinds) {
      try {
        await (kind === 'containers' ? removeDeadContainers(abort) : removeUnusedImages(abort));
      } catch (error) {
        if (abort.aborted) throw error;
        logger.warn('eviction could not reclaim', { what: kind, error: messageOf(error) }); // what was freed all the same shows below
      }
    }
    const observations = observe(await stats.node(abort));
    return !thresholds.some((threshold) => isMet(threshold, observations, true));
  }

  async #evictFirst(
    ranked: readonly Pod[],
    threshold: Threshold,
    met: readonly Threshold[],
    observations: Observations,
    usages: ReadonlyMap<string, PodUsage>,
    signal: AbortSignal,
  ): Promise<readonly Pod[]> {
    const { settings, putOut, tellPod, count, logger } = this.#deps;
    const pod = ranked.find((one) => !isCritical(one));
    if (pod === undefined) {
      logger.warn('eviction finds no pod that may go', { signal: threshold.signal });
      return [];
    }
    const note = evictionNote(pod, usages.get(pod.metadata.uid), threshold.signal, met, observations);
    const soft = Math.min(settings.maxPodGraceSeconds, pod.spec?.terminationGracePeriodSeconds ?? Number.POSITIVE_INFINITY);
    tellPod(pod, note);
    count(threshold.signal, observations.get(threshold.signal)?.atMs);
    await putOut(pod, evicted(note.message, true), threshold.isHard ? hardGraceSeconds : soft, signal);
    return [pod];
  }

  /** Every pod that takes more local storage than it may. */
  async #evictBreaches(pods: readonly Pod[], usages: ReadonlyMap<string, PodUsage>, layout: FilesystemLayout, signal: AbortSignal) {
    const { putOut, tellPod, count } = this.#deps;
    const gone: Pod[] = [];
    for (const pod of pods) {
      const usage = usages.get(pod.metadata.uid);
      const breach = usage === undefined || isCritical(pod) ? undefined : localStorageBreach(pod, usage, layout);
      if (breach === undefined) continue;
      tellPod(pod, { message: breach.message, annotations: {} });
      count(breach.signal);
      gone.push(pod);
      await putOut(pod, evicted(breach.message, false), hardGraceSeconds, signal);
    }
    return gone;
  }
}

function evicted(message: string, isDisruption: boolean): Refusal {
  return { reason: 'Evicted', message, putOut: { isDisruption, keepsSuccess: false } };
}
