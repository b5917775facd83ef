import { quote } from '#api/quote.ts';
import type { DownwardAPIVolumeFile, Pod } from '#api/types/core-v1.ts';
import { fieldValue } from '../../runtime/downward-fields.ts';
import { resourceValue } from '../../runtime/downward-resources.ts';
import type { Payload, PayloadFile } from '../atomic-writer.ts';
import { VolumeSetUpFailed } from '../volume-plugin.ts';
import { joinedFailure } from './joined-failure.ts';

/**
 * Files with what the pod is and may use.
 *
 * @param allocatable of the node: what a limit that is not set counts as
 * @throws {VolumeSetUpFailed} with everything that is wrong
 */
export function downwardPayload(
  items: readonly DownwardAPIVolumeFile[],
  pod: Pod,
  allocatable: Readonly<Record<string, string>>,
  defaultMode: number,
): Payload {
  const files = new Map<string, PayloadFile>();
  const problems: string[] = [];
  for (const item of items) {
    const content = textOf(item, pod, allocatable);
    if (content === undefined) problems.push(`unsupported downward API item at ${item.path}`);
    else files.set(item.path, { content, mode: item.mode ?? defaultMode });
  }
  if (problems.length > 0) throw joinedFailure(problems.map((message) => new VolumeSetUpFailed({ message })));
  return files;
}

/** `key="value"` a line, sorted by key. */
export function formatMap(map: Readonly<Record<string, string>> | undefined): string {
  return Object.entries(map ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${quote(value)}`)
    .join('\n');
}

function textOf({ fieldRef, resourceFieldRef }: DownwardAPIVolumeFile, pod: Pod, allocatable: Readonly<Record<string, string>>): string | undefined {
  if (fieldRef !== undefined) {
    if (fieldRef.fieldPath === 'metadata.labels') return formatMap(pod.metadata.labels);
    if (fieldRef.fieldPath === 'metadata.annotations') return formatMap(pod.metadata.annotations);
    return fieldValue(fieldRef.fieldPath, pod, [], []);
  }
  const containers = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])];
  const container = containers.find(({ name }) => name === resourceFieldRef?.containerName);
  if (resourceFieldRef === undefined || container === undefined) return undefined;
  return resourceValue(resourceFieldRef, pod, container, allocatable);
}
