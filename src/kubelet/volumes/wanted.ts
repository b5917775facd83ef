import type { Container, PodSpec, Volume } from '#api/types/core-v1.ts';

/** Volumes that some container uses: the others are never mounted, and nobody waits for them. Images are the runtime's to mount. */
export function wantedVolumes(spec: PodSpec | undefined): readonly Volume[] {
  const used = new Set(
    allContainers(spec).flatMap(({ volumeMounts = [], volumeDevices = [] }) => [...volumeMounts, ...volumeDevices].map(({ name }) => name)),
  );
  return (spec?.volumes ?? []).filter(({ name, image }) => used.has(name) && image === undefined);
}

/**
 * Where other volumes are mounted inside this one: these folders must be in it, for nobody can make them in a read-only volume.
 *
 * @returns paths below the volume's root
 */
export function nestedMountPoints(volumeName: string, spec: PodSpec | undefined): readonly string[] {
  const nested = allContainers(spec).flatMap(({ volumeMounts = [] }) =>
    volumeMounts
      .filter((outer) => outer.name === volumeName && (outer.subPath ?? outer.subPathExpr ?? '') === '')
      .flatMap((outer) => {
        const prefix = `${outer.mountPath.replace(/\/+$/, '')}/`;
        return volumeMounts
          .filter(({ mountPath }) => mountPath.startsWith(prefix))
          .map(({ mountPath }) => mountPath.slice(prefix.length).replace(/\/+$/, ''));
      }),
  );
  return [...new Set(nested)].filter((path) => path !== '' && !path.split('/').includes('..')).sort();
}

/** The user that owns secrets' files: the one user of all containers, if they have but one. */
export function soleUser(spec: PodSpec | undefined): number | undefined {
  const users = new Set(allContainers(spec).map(({ securityContext }) => securityContext?.runAsUser ?? spec?.securityContext?.runAsUser));
  const [only] = users;
  return users.size === 1 ? only : undefined;
}

function allContainers(spec: PodSpec | undefined): readonly Pick<Container, 'volumeMounts' | 'volumeDevices' | 'securityContext'>[] {
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? []), ...(spec?.ephemeralContainers ?? [])];
}
