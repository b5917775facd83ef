import { ingress as ingressKind } from '#api/kinds/networking/v1/ingress.ts';
import { ingressClass as ingressClassKind } from '#api/kinds/networking/v1/ingress-class.ts';
import type { Ingress, IngressClass } from '#api/types/networking-v1.ts';
import type { ObjectReader } from '../request/route.ts';
import type { AdmissionPlugin } from './admission.ts';

const defaultAnnotation = 'ingressclass.kubernetes.io/is-default-class';
/** How an ingress named its class before there was the field. */
const classAnnotation = 'kubernetes.io/ingress.class';

/** A new ingress that names no class is of the default one, if there is one. */
export function createDefaultIngressClass(objects: ObjectReader): AdmissionPlugin {
  return {
    name: 'DefaultIngressClass',
    mutate: ({ kind, operation, subresource, object }) => {
      if (kind.group !== ingressKind.group || kind.kind !== ingressKind.kind || operation !== 'CREATE' || subresource !== '') return object;
      const ingress = object as Ingress; // the kind's schema has read it
      const hasClass = ingress.spec?.ingressClassName !== undefined || ingress.metadata.annotations?.[classAnnotation] !== undefined;
      const found = hasClass ? undefined : newestDefault(objects.list(ingressClassKind));
      if (found === undefined) return ingress;
      const changed: Ingress = { ...ingress, spec: { ...ingress.spec, ingressClassName: found.metadata.name } };
      return changed;
    },
  };
}

/** Of several the youngest; of the same age the first by name. */
function newestDefault(classes: readonly IngressClass[]): IngressClass | undefined {
  const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  return classes
    .filter(({ metadata }) => metadata.annotations?.[defaultAnnotation] === 'true')
    .sort(({ metadata: a }, { metadata: b }) => compare(b.creationTimestamp, a.creationTimestamp) || compare(a.name, b.name))[0];
}
