import type { Looker, Row } from './matrix.ts';

/** A volume, how it is mounted, and what is seen there: rows have its place as `$V`. */
export interface Sight {
  readonly volume: object;
  /** More of the `volumeMount`. */
  readonly mount?: object;
  readonly rows: readonly Row[];
}

/** A container that looks at many volumes. */
export function lookerAt(
  name: string,
  sights: readonly Sight[],
  more: object = {},
): { readonly volumes: readonly object[]; readonly looker: Looker } {
  const named = sights.map((sight, index) => ({ ...sight, volumeName: `${name}-${index}`, path: `/v${index}` }));
  return {
    volumes: named.map(({ volumeName, volume }) => ({ name: volumeName, ...volume })),
    looker: {
      name,
      ...more,
      volumeMounts: named.map(({ volumeName, path, mount }) => ({ name: volumeName, mountPath: path, ...mount })),
      rows: named.flatMap(({ path, rows }) => rows.map((row) => ({ ...row, look: `V=${path}; ${row.look}` }))),
    },
  };
}
