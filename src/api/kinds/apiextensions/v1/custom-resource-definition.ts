import { changePart, fill } from '#api/copy-on-write.ts';
import { defineKind } from '#api/kind.ts';
import { defaultServiceReference } from '#api/registration/defaults.ts';
import { validateDefinition, validateDefinitionStatus, validateDefinitionUpdate } from '#api/rules/definitions/definition.ts';
import type { CustomResourceDefinition, CustomResourceDefinitionNames } from '#api/types/apiextensions-v1.ts';

/** The object only. It has no conditions before something serves what it defines. */
export const customResourceDefinition = defineKind<CustomResourceDefinition>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  scope: 'Cluster',
  message: 'apiextensions.v1.CustomResourceDefinition',
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  subresources: ['status'],
  generation: 'spec',
  allowsUnconditionalUpdate: false,
  setDefaults: withDefaults,
  prepareCreate: (definition) => ({
    ...definition,
    status: { acceptedNames: { plural: '', kind: '' }, conditions: [], storedVersions: storageVersionsOf(definition) },
  }),
  prepareUpdate: (next) => {
    const stored = next.status?.storedVersions ?? [];
    const added = storageVersionsOf(next).filter((version) => !stored.includes(version));
    return added.length === 0 ? next : { ...next, status: { ...next.status, storedVersions: [...stored, ...added] } };
  },
  validate: validateDefinition,
  validateUpdate: validateDefinitionUpdate,
  validateStatusUpdate: validateDefinitionStatus,
});

function withDefaults(definition: CustomResourceDefinition): CustomResourceDefinition {
  return changePart(definition, 'spec', (spec) => {
    const named = changePart(spec, 'names', defaultNames);
    return changePart(fill(named, { conversion: { strategy: 'None' } }), 'conversion', (conversion) =>
      changePart(conversion, 'webhook', (webhook) =>
        changePart(webhook, 'clientConfig', (config) => changePart(config, 'service', defaultServiceReference)),
      ),
    );
  });
}

function defaultNames(names: CustomResourceDefinitionNames): CustomResourceDefinitionNames {
  const { kind = '' } = names;
  return kind === '' ? names : fill(names, { singular: kind.toLowerCase(), listKind: `${kind}List` });
}

function storageVersionsOf({ spec }: CustomResourceDefinition): readonly string[] {
  return (spec?.versions ?? []).filter(({ storage }) => storage).map(({ name }) => name);
}
