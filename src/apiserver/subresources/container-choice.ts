import { badRequest } from '#api/status.ts';
import type { Pod } from '#api/types/core-v1.ts';

/**
 * The container that a request means.
 *
 * @param asked '' when the client names none
 * @throws {StatusError} 400 when there is no such container, or several and none is named
 */
export function chooseContainer(pod: Pod, asked: string): string {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = pod.spec ?? {};
  const podName = pod.metadata.name;
  if (asked !== '') {
    const isKnown = [...containers, ...initContainers, ...ephemeralContainers].some((container) => container.name === asked);
    if (!isKnown) throw badRequest(`container ${asked} is not valid for pod ${podName}`);
    return asked;
  }
  const [first, ...others] = containers;
  if (first === undefined) throw badRequest(`a container name must be specified for pod ${podName}`);
  if (others.length === 0) return first.name;
  const choices = `choose one of: [${containers.map((container) => container.name).join(' ')}]`;
  const init = initContainers.length === 0 ? '' : ` or one of the init containers: [${initContainers.map((container) => container.name).join(' ')}]`;
  throw badRequest(`a container name must be specified for pod ${podName}, ${choices}${init}`);
}
