/**
 * Enough of a patch for tests of clients: objects merge, `null` removes, lists of objects with a `type` (conditions) merge by it, all other
 * lists are replaced.
 */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (isList(target) && isList(patch) && [...target, ...patch].every((item) => isRecord(item) && 'type' in item)) return mergeByType(target, patch);
  if (!isRecord(patch)) return patch;
  const merged: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = applyMergePatch(merged[key], value);
  }
  return merged;
}

function mergeByType(target: readonly unknown[], patch: readonly unknown[]): readonly unknown[] {
  const merged = new Map(target.map((item) => [typeOf(item), item]));
  for (const item of patch) merged.set(typeOf(item), applyMergePatch(merged.get(typeOf(item)), item));
  return [...merged.values()];
}

function typeOf(item: unknown): unknown {
  return isRecord(item) ? item['type'] : undefined;
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
