import { age } from './human-duration.ts';
import type { KubeObject } from './object.ts';

export type Cell = string | number | boolean;

/** One column of `kubectl get`. */
export interface Column<T extends KubeObject = KubeObject> {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'date';
  /** `name` for the name column, else ''. */
  readonly format: string;
  readonly description: string;
  /** Above 0: shown by `-o wide` only. */
  readonly priority: number;
  cell(object: T, nowMs: number): Cell;
}

interface ColumnInit<T extends KubeObject> {
  readonly type?: Column['type'];
  readonly format?: string;
  readonly description?: string;
  readonly isWide?: boolean;
  cell(object: T, nowMs: number): Cell;
}

export function column<T extends KubeObject>(name: string, init: ColumnInit<T>): Column<T> {
  return {
    name,
    type: init.type ?? 'string',
    format: init.format ?? '',
    description: init.description ?? '',
    priority: init.isWide === true ? 1 : 0,
    cell: init.cell,
  };
}

export const nameColumn: Column = column('Name', {
  format: 'name',
  description: 'Name must be unique within a namespace.',
  cell: (object) => object.metadata.name,
});

export const ageColumn: Column = column('Age', {
  description: 'Time since the object was created.',
  cell: (object, nowMs) => age(object.metadata.creationTimestamp, nowMs),
});

/** The columns of a kind that has none of its own. */
export const plainColumns: readonly Column[] = [
  nameColumn,
  column('Created At', {
    type: 'date',
    description: 'Time at which the object was created.',
    cell: (object) => object.metadata.creationTimestamp ?? '',
  }),
];
