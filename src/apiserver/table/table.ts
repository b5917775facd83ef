import type { Column } from '#api/column.ts';
import type { Kind } from '#api/kind.ts';
import { quote } from '#api/quote.ts';
import { badRequest } from '#api/status.ts';
import type { IndexedObject } from '../registry/indexed-object.ts';

export type IncludeObject = 'Metadata' | 'Object' | 'None';

export interface TableFormat {
  readonly kind: Kind;
  /** `v1` or `v1beta1` of `meta.k8s.io`. */
  readonly version: string;
  readonly includeObject: IncludeObject;
  readonly nowMs: number;
}

export interface TableMeta {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** @throws a 400 `StatusError` */
export function includeObjectOf(query: URLSearchParams): IncludeObject {
  const value = query.get('includeObject') || 'Metadata';
  if (value === 'Metadata' || value === 'Object' || value === 'None') return value;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${quote(value)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

/** @returns JSON @param withColumns false in all but the first event of a watch */
export function tableOf(objects: readonly IndexedObject[], meta: TableMeta, format: TableFormat, withColumns: boolean): string {
  const columns = withColumns ? JSON.stringify(format.kind.columns.map(definitionOf)) : 'null';
  const rows = objects.map((object) => rowOf(object, format)).join(',');
  const head = `"kind":"Table","apiVersion":"meta.k8s.io/${format.version}"`;
  return `{${head},"metadata":${JSON.stringify(meta)},"columnDefinitions":${columns},"rows":[${rows}]}`;
}

/** A bookmark of a watch of tables: one row that carries nothing but the revision. */
export function bookmarkTable(bookmark: string, resourceVersion: string, format: TableFormat, withColumns: boolean): string {
  const columns = withColumns ? JSON.stringify(format.kind.columns.map(definitionOf)) : 'null';
  const row = `{"cells":${JSON.stringify(format.kind.columns.map(() => ''))},"object":${bookmark}}`;
  const head = `"kind":"Table","apiVersion":"meta.k8s.io/${format.version}"`;
  return `{${head},"metadata":${JSON.stringify({ resourceVersion })},"columnDefinitions":${columns},"rows":[${row}]}`;
}

/** How upstream's messages name a kind. */
export function goTypeOf({ group, kind }: Pick<Kind, 'group' | 'kind'>): string {
  return `*${group === '' ? 'core' : group.split('.')[0]}.${kind}`;
}

/** The metadata alone, as JSON. */
export function partialObject(object: IndexedObject, version: string): string {
  return JSON.stringify({ kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}`, metadata: object.object().metadata });
}

function rowOf(entry: IndexedObject, format: TableFormat): string {
  const object = entry.object();
  const cells = JSON.stringify(format.kind.columns.map((column) => column.cell(object, format.nowMs)));
  const conditions = format.kind.rowConditions?.(object) ?? [];
  const shown = conditions.length === 0 ? '' : `,"conditions":${JSON.stringify(conditions)}`;
  return `{"cells":${cells}${shown},"object":${shownObject(entry, format)}}`;
}

function shownObject(entry: IndexedObject, format: TableFormat): string {
  switch (format.includeObject) {
    case 'Metadata':
      return partialObject(entry, format.version);
    case 'Object':
      return entry.json().toString();
    case 'None':
      return 'null';
  }
}

function definitionOf({ name, type, format, description, priority }: Column): unknown {
  return { name, type, format, description, priority };
}
