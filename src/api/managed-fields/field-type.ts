import { fieldElement, itself, keyElement, valueElement } from './path-element.ts';

/**
 * What a value may be at a place of an object, and how it is owned there. Built-in kinds derive it from their messages; custom resources from
 * the schema of their definition.
 */
export type FieldType = ScalarType | StructType | MapType | ListType | UntypedType;

/** One field; `any` is for scalars of several types, such as quantities. */
export interface ScalarType {
  readonly kind: 'scalar';
  readonly accepts: 'string' | 'number' | 'boolean' | 'any';
}

/** An object with known fields. */
export interface StructType {
  readonly kind: 'struct';
  /** It is owned as a whole. */
  readonly isAtomic: boolean;
  field(name: string): StructField | undefined;
  /** Fields that an object of this type has even when its JSON has not: Go's structs inside structs. They are not owned for being there. */
  readonly alwaysThere: readonly string[];
}

export interface StructField {
  /** Its element in a set. */
  readonly element: string;
  readonly type: FieldType;
  /** What it counts as when it is a key of a list's items and absent. */
  readonly default: unknown;
}

export interface MapType {
  readonly kind: 'map';
  readonly isAtomic: boolean;
  readonly values: FieldType;
}

export interface ListType {
  readonly kind: 'list';
  /** Owned as a whole, value by value, or item by item. */
  readonly owned: 'atomic' | 'set' | 'map';
  /** Of a `map`: what tells its items apart. */
  readonly keys: readonly string[];
  readonly items: FieldType;
}

/** Nothing is known: objects are maps of such values, all else is owned as a whole. */
export interface UntypedType {
  readonly kind: 'untyped';
}

export type JsonObject = Readonly<Record<string, unknown>>;

export const untyped: UntypedType = { kind: 'untyped' };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether the value is owned part by part: a struct or a map that is there. */
export function isGranularObject(type: FieldType, value: unknown): value is JsonObject {
  return isJsonObject(value) && (type.kind === 'untyped' || ((type.kind === 'struct' || type.kind === 'map') && !type.isAtomic));
}

export function isGranularList(type: FieldType, value: unknown): value is readonly unknown[] {
  return type.kind === 'list' && type.owned !== 'atomic' && Array.isArray(value);
}

/** The type of what stands under a name, and its element. */
export function childOf(type: FieldType, name: string): Pick<StructField, 'element' | 'type'> {
  const known = type.kind === 'struct' ? type.field(name) : undefined;
  return known ?? { element: fieldElement(name), type: type.kind === 'map' ? type.values : untyped };
}

/** Undefined when the item has nothing that tells it apart. */
export function elementOfItem(type: ListType, item: unknown): string | undefined {
  if (type.owned === 'set') return typeof item === 'object' ? undefined : valueElement(item);
  if (!isJsonObject(item)) return undefined;
  const keys: (readonly [string, unknown])[] = [];
  for (const name of type.keys) {
    const value = item[name] ?? defaultOf(type.items, name);
    if (value === undefined) return undefined;
    keys.push([name, value]);
  }
  return keyElement(keys);
}

export function defaultOf(items: FieldType, name: string): unknown {
  return items.kind === 'struct' ? items.field(name)?.default : undefined;
}

/** The items by their elements, in order; those that cannot be told apart stand under one, those without an element are left out. */
export function itemsByElement(type: ListType, items: readonly unknown[]): ReadonlyMap<string, readonly unknown[]> {
  const found = new Map<string, unknown[]>();
  for (const item of items) {
    const element = elementOfItem(type, item);
    if (element === undefined || element === itself) continue;
    const same = found.get(element);
    if (same === undefined) found.set(element, [item]);
    else same.push(item);
  }
  return found;
}
