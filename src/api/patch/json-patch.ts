import { InvalidInput } from '#base/errors.ts';
import { deepEqual } from '../deep-equal.ts';
import { PatchDoesNotApply } from './patch-does-not-apply.ts';

/**
 * RFC 6902. Neither argument is changed; what the patch does not touch is shared with the result.
 * (The libraries change the document in place, which would mean a deep copy of every object that is patched.)
 *
 * @param operations parsed, but not checked
 * @throws {InvalidInput} when it is no JSON patch; as {PatchDoesNotApply} when it does not fit the object
 */
export function applyJsonPatch(object: unknown, operations: unknown): unknown {
  if (!Array.isArray(operations)) throw new InvalidInput({ message: 'a JSON patch is a list of operations' });
  return operations.map(readOperation).reduce(applyOperation, object);
}

type Path = readonly string[];

type Operation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: Path; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: Path }
  | { readonly op: 'move' | 'copy'; readonly path: Path; readonly from: Path };

function readOperation(operation: unknown): Operation {
  if (!isObject(operation)) throw new InvalidInput({ message: 'an operation of a JSON patch is an object' });
  const { op } = operation;
  const path = readPath(operation['path']);
  switch (op) {
    case 'add':
    case 'replace':
    case 'test':
      if (!('value' in operation)) throw new PatchDoesNotApply({ message: `JSON patch: ${op} needs a value` });
      return { op, path, value: operation['value'] };
    case 'remove':
      return { op, path };
    case 'move':
    case 'copy':
      return { op, path, from: readPath(operation['from']) };
    default:
      throw new PatchDoesNotApply({ message: `Unexpected kind: ${String(op)}` });
  }
}

function readPath(pointer: unknown): Path {
  if (typeof pointer !== 'string' || (pointer !== '' && !pointer.startsWith('/'))) {
    throw new PatchDoesNotApply({ message: `JSON patch: ${JSON.stringify(pointer)} is no path` });
  }
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function applyOperation(document: unknown, operation: Operation): unknown {
  const { path } = operation;
  switch (operation.op) {
    case 'add':
      return add(document, path, operation.value);
    case 'remove':
      return remove(document, path);
    case 'replace':
      read(document, path);
      return change(document, path, () => operation.value);
    case 'move': {
      const isInside = operation.from.length < path.length && operation.from.every((part, index) => path[index] === part);
      if (isInside) throw new PatchDoesNotApply({ message: `a value cannot be moved into itself: ${pathText(path)}` });
      return add(remove(document, operation.from), path, read(document, operation.from));
    }
    case 'copy':
      return add(document, path, read(document, operation.from));
    case 'test':
      if (!deepEqual(find(document, path) ?? null, operation.value)) {
        throw new PatchDoesNotApply({ message: `testing value ${pathText(path)} failed` });
      }
      return document;
  }
}

function add(document: unknown, path: Path, value: unknown): unknown {
  if (path.length === 0) return value;
  return change(document, path.slice(0, -1), (parent) => {
    const key = path.at(-1) ?? '';
    if (Array.isArray(parent)) {
      const index = key === '-' ? parent.length : indexOf(key, parent.length, path);
      return parent.toSpliced(index, 0, value);
    }
    if (!isObject(parent)) throw missing(path);
    return withKey(parent, key, value);
  });
}

function remove(document: unknown, path: Path): unknown {
  if (path.length === 0) return null;
  read(document, path);
  return change(document, path.slice(0, -1), (parent) => {
    const key = path.at(-1) ?? '';
    if (Array.isArray(parent)) return parent.toSpliced(Number(key), 1);
    return Object.fromEntries(Object.entries(isObject(parent) ? parent : {}).filter(([name]) => name !== key));
  });
}

/** The document with one value replaced, and everything beside the path shared. */
function change(document: unknown, path: Path, edit: (value: unknown) => unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return edit(document);
  if (Array.isArray(document)) {
    const index = indexOf(key, document.length - 1, path);
    return document.with(index, change(document[index], rest, edit));
  }
  if (!isObject(document) || !Object.hasOwn(document, key)) throw missing(path);
  return withKey(document, key, change(document[key], rest, edit));
}

function read(document: unknown, path: Path): unknown {
  const value = find(document, path);
  if (value === undefined) throw missing(path);
  return value;
}

function find(document: unknown, path: Path): unknown {
  let value = document;
  for (const key of path) {
    if (Array.isArray(value)) value = /^(0|[1-9]\d*)$/.test(key) ? value[Number(key)] : undefined;
    else value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return value;
}

function indexOf(key: string, max: number, path: Path): number {
  const index = /^(0|[1-9]\d*)$/.test(key) ? Number(key) : Number.NaN;
  if (!(index <= max)) throw missing(path);
  return index;
}

function withKey(object: Readonly<Record<string, unknown>>, key: string, value: unknown): Readonly<Record<string, unknown>> {
  return Object.fromEntries([...Object.entries(object).filter(([name]) => name !== key), [key, value]]);
}

function missing(path: Path): PatchDoesNotApply {
  return new PatchDoesNotApply({ message: `there is nothing at ${pathText(path)}` });
}

function pathText(path: Path): string {
  return path.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
