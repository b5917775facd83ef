import { applyMergePatch } from '#api/patch/merge-patch.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Lays configurations over each other: what a later one sets counts, objects and maps field by field, lists as a whole. */
export function mergeConfigurations(layers: readonly Fields[]): Fields {
  return layers.reduce<Fields>((under, { apiVersion: _, kind: __, ...over }) => applyMergePatch(under, over) as Fields, {}); // an object over an object is one
}
