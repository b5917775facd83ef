import type { KubeObject } from '#api/object.ts';

export const betaClassAnnotation = 'volume.beta.kubernetes.io/storage-class';
const defaultAnnotations = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'];

/** The name of the class of a claim or a volume: the annotation of old wins. */
export function storageClassOf(object: KubeObject & { readonly spec?: { readonly storageClassName?: string | undefined } | undefined }): string {
  return object.metadata.annotations?.[betaClassAnnotation] ?? object.spec?.storageClassName ?? '';
}

/** Whether claims that name no class are of this one. */
export function isDefaultStorageClass({ metadata: { annotations = {} } }: KubeObject): boolean {
  return defaultAnnotations.some((key) => annotations[key] === 'true');
}
