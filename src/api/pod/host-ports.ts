import type { Pod } from '#api/types/core-v1.ts';
import { sidecarsOf } from './sidecars.ts';

/** A port of the node that a pod wants for itself. */
export interface HostPort {
  /** `0.0.0.0` for every address. */
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

/** The node ports that a pod takes, of containers and sidecars. */
export function hostPorts(pod: Pick<Pod, 'spec'>): readonly HostPort[] {
  return [...sidecarsOf(pod), ...(pod.spec?.containers ?? [])].flatMap((container) =>
    (container.ports ?? []).flatMap(({ hostIP = '', protocol = 'TCP', hostPort = 0 }) =>
      hostPort > 0 ? [{ ip: hostIP === '' ? '0.0.0.0' : hostIP, protocol, port: hostPort }] : [],
    ),
  );
}

/** Whether two pods cannot have both: same port and protocol, and addresses that overlap. */
function conflicts(a: HostPort, b: HostPort): boolean {
  return a.port === b.port && a.protocol === b.protocol && (a.ip === b.ip || a.ip === '0.0.0.0' || b.ip === '0.0.0.0');
}

/** The first wanted port that is taken. */
export function findConflict(wanted: readonly HostPort[], taken: readonly HostPort[]): HostPort | undefined {
  return wanted.find((port) => taken.some((other) => conflicts(port, other)));
}
