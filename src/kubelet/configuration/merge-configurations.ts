import { applyMergePatch } from '#api/patch/merge-patch.ts';
import { kubeletFields } from './kubelet-configuration.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Lays configurations over each other: what a later one sets counts, objects and maps field by field, lists as a whole. */
export function mergeConfigurations(layers: readonly Fields[]): Fields {
  return layers.reduce<Fields>((under, { apiVersion: _, kind: __, ...over }) => applyMergePatch(under, over) as Fields, {}); // an object over an object is one
}

/** A flag for a map says all of it, as upstream's do; one for a gate, or for a field of a table, says no more than that. */
export function layFlagsOver(under: Fields, flags: Fields): Fields {
  const forms: Readonly<Record<string, { readonly form: string }>> = kubeletFields;
  const isWhole = (name: string) => Object.hasOwn(flags, name) && forms[name]?.form.startsWith('map') === true && name !== 'featureGates';
  return mergeConfigurations([Object.fromEntries(Object.entries(under).filter(([name]) => !isWhole(name))), flags]);
}
