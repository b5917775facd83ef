export const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'] as const;

const shortNames: readonly (readonly [string, string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

/** `RWO,ROX`: as tables show access modes. */
export function accessModesText(modes: readonly string[] = []): string {
  return shortNames.flatMap(([mode, short]) => (modes.includes(mode) ? [short] : [])).join(',');
}
