import { quantityToNumber } from '#api/quantity.ts';
import type { PodSpec } from '#api/types/core-v1.ts';
import { VolumeSetUpFailed } from '../volume-plugin.ts';

const RESOURCE = 'hugepages-';
const MEDIUM = 'HugePages-';

/**
 * Size of the pages of such an emptyDir: that of its medium (`HugePages-2Mi`), or the only one that the containers ask for.
 *
 * @throws {VolumeSetUpFailed} in upstream's words, when no container has such pages, or it is not clear which ones are meant
 */
export function hugePageBytes(medium: string, spec: PodSpec | undefined): number {
  const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
  const names = containers.flatMap(({ resources }) => Object.keys(resources?.requests ?? {})).filter((name) => name.startsWith(RESOURCE));
  const sizes = new Set(names.map((name) => quantityToNumber(name.slice(RESOURCE.length))));
  if (medium.startsWith(MEDIUM)) {
    const wanted = quantityToNumber(medium.slice(MEDIUM.length));
    if (sizes.has(wanted)) return wanted;
  } else {
    const [only] = sizes;
    if (sizes.size > 1) throw new VolumeSetUpFailed({ message: `medium: ${medium} can't be used if container requests multiple huge page sizes` });
    if (only !== undefined) return only;
  }
  throw new VolumeSetUpFailed({ message: `medium ${medium}: hugePages storage requested, but there is no resource request for huge pages` });
}
