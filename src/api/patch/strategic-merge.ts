import { InvalidInput } from '#base/errors.ts';
import { goText } from '../go-text.ts';
import type { FieldSchema, MessageSchema } from '../schema/message-schema.ts';
import { PatchDoesNotApply, PatchIsContradictory } from './patch-does-not-apply.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Upstream's strategic merge patch: lists are merged by the keys that the schema names. Neither argument is changed.
 *
 * @throws {InvalidInput} when a directive cannot be read; as {PatchDoesNotApply} when it contradicts itself
 */
export function applyStrategicMergePatch(schema: MessageSchema, object: JsonObject, patch: unknown): JsonObject {
  if (!isObject(patch)) throw new InvalidInput({ message: 'invalid JSON document' });
  return mergeObject(schema, object, patch);
}

const directive = '$patch';
const retainKeys = '$retainKeys';
const orderPrefix = '$setElementOrder/';
const deletePrefix = '$deleteFromPrimitiveList/';

function mergeObject(schema: MessageSchema | undefined, original: JsonObject, patch: JsonObject): JsonObject {
  const kind = patch[directive];
  if (kind === 'replace') return mergeObject(schema, {}, without(patch, directive));
  if (kind === 'delete') return {};
  if (kind !== undefined && kind !== 'merge') {
    throw new PatchIsContradictory({ message: `unknown patch type: ${String(kind)} in map: ${goText(patch)}` });
  }
  const merged = new Map(Object.entries(retained(original, patch)));
  for (const name of patchedNames(patch)) {
    const field = schema?.jsonFields.get(name);
    const value = patch[name];
    const current = merged.get(name);
    if (value === null) merged.delete(name);
    else if (isObject(value)) merged.set(name, mergeValue(field, current, value));
    else if (value === undefined || Array.isArray(value)) {
      const list = mergeField(field, name, current, patch);
      if (list === undefined) merged.delete(name);
      else merged.set(name, list);
    } else merged.set(name, value);
  }
  return Object.fromEntries(merged); // not by assignment: a key may be `__proto__`
}

/** Fields that the patch is about; those that only have a list directive too. */
function patchedNames(patch: JsonObject): ReadonlySet<string> {
  const names = Object.keys(patch).flatMap((key) => {
    if (key === directive || key === retainKeys) return [];
    for (const prefix of [orderPrefix, deletePrefix]) if (key.startsWith(prefix)) return [key.slice(prefix.length)];
    return [key];
  });
  return new Set(names);
}

function mergeValue(field: FieldSchema | undefined, current: unknown, patch: JsonObject): JsonObject {
  const isReplaced = field?.shape === 'single' && field.patchStrategies.includes('replace');
  const original = isObject(current) && !isReplaced ? current : {};
  return mergeObject(field?.shape === 'single' && field.message?.form === 'object' ? field.message : undefined, original, patch);
}

function mergeField(field: FieldSchema | undefined, name: string, current: unknown, patch: JsonObject): readonly unknown[] | undefined {
  const given = patch[name];
  const order = listOf(patch, `${orderPrefix}${name}`, 'invalid patch format of setElementOrder list');
  const deleted = listOf(patch, `${deletePrefix}${name}`, 'invalid patch format of primitive list');
  const original: readonly unknown[] = Array.isArray(current) ? current : [];
  if (field?.shape !== 'list' || !field.patchStrategies.includes('merge')) {
    if (Array.isArray(given)) return given;
    return current === undefined ? undefined : original;
  }
  if (given === undefined && current === undefined) return undefined;
  const items: readonly unknown[] = Array.isArray(given) ? given : [];
  const { mergeKey, message: schema } = field;
  if (mergeKey === undefined || schema === undefined) return mergeScalars(original, items, deleted ?? [], order);
  return mergeItems(schema, mergeKey, original, items, order);
}

function mergeScalars(
  original: readonly unknown[],
  patch: readonly unknown[],
  deleted: readonly unknown[],
  order: readonly unknown[] | undefined,
): readonly unknown[] {
  const gone = new Set(deleted);
  const all = [...new Set([...original.filter((item) => !gone.has(item)), ...patch])];
  checkOrder(patch, order, (item) => item);
  return inOrder(all, order ?? patch, original, (item) => item);
}

function mergeItems(
  schema: MessageSchema,
  mergeKey: string,
  original: readonly unknown[],
  patch: readonly unknown[],
  order: readonly unknown[] | undefined,
): readonly unknown[] {
  const items = patch.map((item) => {
    if (!isObject(item)) throw new PatchDoesNotApply({ message: `an item of a list that is merged by ${mergeKey} is no object` });
    return item;
  });
  if (items.some((item) => item[directive] === 'replace')) {
    const rest = items.filter((item) => item[directive] === undefined);
    return rest.map((item) => mergeObject(schema, {}, item));
  }
  const keyOf = (item: unknown) => (isObject(item) ? item[mergeKey] : undefined);
  const isDelete = (item: JsonObject) => item[directive] === 'delete';
  for (const item of items) {
    if (item[mergeKey] !== undefined) continue;
    throw new PatchIsContradictory({ message: `map: ${goText(item)} does not contain declared merge key: ${mergeKey}` });
  }
  const gone = new Set(items.filter(isDelete).map(keyOf));
  const merged = original.filter((item) => !gone.has(keyOf(item)));
  const indexes = firstIndexes(merged.map(keyOf));
  const given = items.filter((item) => !isDelete(item));
  for (const item of given) {
    const index = indexes.get(keyOf(item)) ?? merged.length;
    const current = merged[index];
    merged[index] = mergeObject(schema, isObject(current) ? current : {}, item);
    indexes.set(keyOf(item), index);
  }
  const orderKeys = order?.map(keyOf);
  checkOrder(given, order, keyOf);
  return inOrder(merged, orderKeys ?? given.map(keyOf), original.map(keyOf), keyOf);
}

/** What the patch lists must stand in the order list, in the same relative order. */
function checkOrder(patch: readonly unknown[], order: readonly unknown[] | undefined, keyOf: (item: unknown) => unknown): void {
  if (order === undefined) return;
  const ranks = firstIndexes(order.map(keyOf));
  const places = patch.map((item) => ranks.get(keyOf(item)) ?? -1);
  if (places.every((place, index) => place >= 0 && place >= (places[index - 1] ?? 0))) return;
  const message = `The order in patch list:\n${goText(patch)}\n doesn't match $setElementOrder list:\n${goText(order)}\n`;
  throw new PatchIsContradictory({ message });
}

/**
 * Items of the order list in that order; the others keep the server's order and stand before the first ordered item that followed them there.
 * An item that the server did not have therefore comes before others, as upstream has it.
 */
function inOrder(
  items: readonly unknown[],
  order: readonly unknown[],
  serverOrder: readonly unknown[],
  keyOf: (item: unknown) => unknown,
): readonly unknown[] {
  const places = firstIndexes(serverOrder);
  const ranks = firstIndexes(order);
  const place = (item: unknown) => places.get(keyOf(item)) ?? -1;
  const rank = (item: unknown) => ranks.get(keyOf(item)) ?? -1;
  const ordered = items.filter((item) => rank(item) >= 0).toSorted((a, b) => rank(a) - rank(b));
  const others = items.filter((item) => rank(item) < 0).toSorted((a, b) => place(a) - place(b));
  const sorted: unknown[] = [];
  let next = 0;
  for (const item of ordered) {
    while (next < others.length && place(item) >= 0 && place(others[next]) < place(item)) sorted.push(others[next++]);
    sorted.push(item);
  }
  return [...sorted, ...others.slice(next)];
}

function firstIndexes(keys: readonly unknown[]): Map<unknown, number> {
  const indexes = new Map<unknown, number>();
  for (const [index, key] of keys.entries()) if (!indexes.has(key)) indexes.set(key, index);
  return indexes;
}

/** The original without what `$retainKeys` does not name. */
function retained(original: JsonObject, patch: JsonObject): JsonObject {
  const keys = listOf(patch, retainKeys, 'invalid patch format of retainKeys');
  if (keys === undefined) return original;
  for (const name of patchedNames(patch)) {
    if (patch[name] === null || keys.includes(name)) continue;
    throw new PatchDoesNotApply({ message: `${retainKeys} directive doesn't contain ${name}, which the patch sets` });
  }
  return Object.fromEntries(Object.entries(original).filter(([name]) => keys.includes(name)));
}

function listOf(patch: JsonObject, key: string, problem: string): readonly unknown[] | undefined {
  const value = patch[key];
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) throw new InvalidInput({ message: problem });
  return value;
}

function without(object: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
