/**
 * The object with values for the keys that it does not have; the same object when it has them all.
 * An empty text counts as absent where the default is a text, as for upstream.
 */
export function fill<T extends object>(object: T, defaults: Partial<T>): T {
  const present = new Map<string, unknown>(Object.entries(object));
  const missing = Object.entries(defaults).filter(([key, value]) => {
    const given = present.get(key);
    return value !== undefined && value !== given && (given === undefined || (given === '' && typeof value === 'string'));
  });
  return missing.length === 0 ? object : { ...object, ...Object.fromEntries(missing) };
}

/** The object with one part changed; the same object when the part stays or is absent. */
export function changePart<T extends object, K extends keyof T>(object: T, key: K, change: (value: NonNullable<T[K]>) => NonNullable<T[K]>): T {
  const value = object[key];
  if (value === undefined || value === null) return object;
  const changed = change(value);
  return changed === value ? object : { ...object, [key]: changed };
}

/** The list with every item changed; the same list when all stay. */
export function changeItems<T>(list: readonly T[], change: (item: T) => T): readonly T[] {
  const changed = list.map(change);
  return changed.every((item, index) => item === list[index]) ? list : changed;
}
