import { podLimits } from '#api/pod/requests.ts';
import { canonicalQuantity, formatQuantity, quantityOf, quantityToNumber } from '#api/quantity.ts';
import type { Pod } from '#api/types/core-v1.ts';
import type { FilesystemLayout, PodUsage } from '../ports/stats.ts';

export interface LocalStorageBreach {
  /** Label of the metric. */
  readonly signal: 'emptydirfs.limit' | 'ephemeralpodfs.limit' | 'ephemeralcontainerfs.limit';
  readonly message: string;
}

/** The first limit of its own local storage that the pod has passed; pure. */
export function localStorageBreach(pod: Pod, usage: PodUsage, layout: FilesystemLayout): LocalStorageBreach | undefined {
  return emptyDirBreach(pod, usage) ?? podBreach(pod, usage) ?? containerBreach(pod, usage, layout);
}

function emptyDirBreach(pod: Pod, { volumes }: PodUsage): LocalStorageBreach | undefined {
  for (const { name, emptyDir } of pod.spec?.volumes ?? []) {
    const limit = emptyDir?.sizeLimit;
    const used = volumes.find((volume) => volume.name === name)?.usedBytes;
    if (limit === undefined || used === undefined) continue;
    const limitBytes = quantityToNumber(limit);
    if (limitBytes <= 0 || used <= limitBytes) continue;
    const message = `Usage of EmptyDir volume ${JSON.stringify(name)} exceeds the limit ${JSON.stringify(canonicalQuantity(limit))}. `;
    return { signal: 'emptydirfs.limit', message };
  }
  return undefined;
}

function podBreach(pod: Pod, { ephemeralStorage }: PodUsage): LocalStorageBreach | undefined {
  const limit = podLimits(pod).get('ephemeral-storage');
  if (limit === undefined || (ephemeralStorage.usedBytes ?? 0) <= limit) return undefined;
  const text = formatQuantity(quantityOf(limit, formatOfLimits(pod)));
  return { signal: 'ephemeralpodfs.limit', message: `Pod ephemeral local storage usage exceeds the total limit of containers ${text}. ` };
}

function containerBreach(pod: Pod, { containers }: PodUsage, layout: FilesystemLayout): LocalStorageBreach | undefined {
  for (const { name, resources } of pod.spec?.containers ?? []) {
    const limit = resources?.limits?.['ephemeral-storage'];
    const usage = containers.find((one) => one.name === name);
    if (limit === undefined || usage === undefined) continue;
    const used = (usage.logs.usedBytes ?? 0) + (layout === 'images-apart' ? 0 : (usage.rootFs.usedBytes ?? 0));
    if (used <= quantityToNumber(limit)) continue;
    const message = `Container ${name} exceeded its local ephemeral storage limit ${JSON.stringify(canonicalQuantity(limit))}. `;
    return { signal: 'ephemeralcontainerfs.limit', message };
  }
  return undefined;
}

/** A sum is printed like its first part. */
function formatOfLimits(pod: Pod): 'BinarySI' | 'DecimalSI' {
  const first = (pod.spec?.containers ?? []).map(({ resources }) => resources?.limits?.['ephemeral-storage']).find((limit) => limit !== undefined);
  return first !== undefined && /i$/.test(first) ? 'BinarySI' : 'DecimalSI';
}
