import { type HostNames, slicePath } from './host-names.ts';
import type { ClusterSettings } from './settings.ts';

/** Where a cluster's cgroups may be: as folders or as systemd's slices, at the root of each hierarchy or below the user's `cgroupRoot`. */
export function cgroupRoots(names: HostNames, settings: Pick<ClusterSettings, 'kubelet'> | undefined): readonly string[] {
  const own = settings?.kubelet['cgroupRoot'];
  const parts = typeof own === 'string' ? own.split('/').filter((part) => part !== '') : [];
  const ofUser = parts.length === 0 ? [] : [`/${parts.join('/')}${names.cgroupRoot}`, slicePath([...parts, 'kubernode', names.name])];
  return [names.cgroupRoot, names.sliceRoot, ...ofUser];
}
