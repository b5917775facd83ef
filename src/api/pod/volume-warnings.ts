import type { Volume } from '#api/types/core-v1.ts';

const oldSources: Readonly<Record<string, string>> = {
  photonPersistentDisk: 'deprecated in v1.11, non-functional in v1.16+',
  gitRepo: 'deprecated in v1.11',
  scaleIO: 'deprecated in v1.16, non-functional in v1.22+',
  flocker: 'deprecated in v1.22, non-functional in v1.25+',
  storageos: 'deprecated in v1.22, non-functional in v1.25+',
  quobyte: 'deprecated in v1.22, non-functional in v1.25+',
  glusterfs: 'deprecated in v1.25, non-functional in v1.26+',
  cephfs: 'deprecated in v1.28, non-functional in v1.31+',
  rbd: 'deprecated in v1.28, non-functional in v1.31+',
};

/** Kinds of volumes that are on their way out. */
export function volumeWarnings(volumes: readonly Volume[], field: string): readonly string[] {
  return volumes.flatMap((volume, index) =>
    Object.entries(volume).flatMap(([source, value]) => {
      const text = value === undefined ? undefined : oldSources[source];
      return text === undefined ? [] : [`${field}[${index}].${source === 'storageos' ? 'storageOS' : source}: ${text}`];
    }),
  );
}
