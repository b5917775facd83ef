import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import { isNotFound } from '#client/api-error.ts';
import type { Client, ObjectName } from '#client/client.ts';
import { type PodStartup, podStartups } from '#startup/pod-startup.ts';
import { explain } from '#startup/why.ts';
import type { CliContext } from './context.ts';

/** The pod's start-up record; `undefined` when the server has none. */
export async function startupOf(pod: ObjectName, client: Client, signal: AbortSignal): Promise<PodStartup | undefined> {
  try {
    return await client.get(podStartups, pod, signal);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** What `why` says about the pod. @throws {ApiError} 404 when there is no such pod */
export async function explanationLines(ref: ObjectName, client: Client, context: CliContext): Promise<readonly string[]> {
  const [pod, record] = await Promise.all([client.get(podKind, ref, context.signal), startupOf(ref, client, context.signal)]);
  return explain(pod, record, context.clock.now()).lines;
}
