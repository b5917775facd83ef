import { base64Decode, base64Encode } from '@bufbuild/protobuf/wire';
import { ageColumn, column, nameColumn } from '#api/column.ts';
import { fill } from '#api/copy-on-write.ts';
import { deepEqual } from '#api/deep-equal.ts';
import { type FieldProblem, forbidden, invalid, required } from '#api/field-problem.ts';
import { defineKind } from '#api/kind.ts';
import { validateConfigKeys, validateConfigSize } from '#api/rules/config-data.ts';
import type { Secret } from '#api/types/core-v1.ts';

export const secret = defineKind<Secret>({
  group: '',
  version: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  scope: 'Namespaced',
  message: 'core.v1.Secret',
  selectableFields: { type: (secret) => secret.type ?? '' },
  columns: [
    nameColumn,
    column('Type', { description: 'Used to facilitate programmatic handling of secret data.', cell: (secret) => secret.type ?? '' }),
    column('Data', { type: 'integer', description: 'Number of keys.', cell: (secret) => Object.keys(secret.data ?? {}).length }),
    ageColumn,
  ],
  setDefaults: (secret) => fill<Secret>(mergeTexts(secret), { type: 'Opaque' }),
  validate: (secret) => [
    ...validateConfigKeys(secret.data ?? {}, 'data'),
    ...validateConfigSize([], Object.values(secret.data ?? {}), 'data'),
    ...validateByType(secret),
  ],
  validateUpdate: (next, previous) => {
    const detail = 'field is immutable when `immutable` is set';
    const isFixed = previous.immutable === true;
    return [
      ...(next.type === previous.type ? [] : [invalid('type', next.type, 'field is immutable')]),
      ...(isFixed && next.immutable !== true ? [forbidden('immutable', detail)] : []),
      ...(isFixed && !deepEqual(next.data ?? {}, previous.data ?? {}) ? [forbidden('data', detail)] : []),
    ];
  },
});

/** `stringData` is a way to write `data` and never read back. */
function mergeTexts(secret: Secret): Secret {
  const { stringData, ...rest } = secret;
  if (stringData === undefined) return secret;
  const encoded = Object.entries(stringData).map(([key, text]) => [key, base64Encode(new TextEncoder().encode(text))] as const);
  return { ...rest, data: { ...secret.data, ...Object.fromEntries(encoded) } };
}

function validateByType({ type, data = {}, metadata }: Secret): readonly FieldProblem[] {
  const need = (...keys: readonly string[]) => keys.filter((key) => !Object.hasOwn(data, key)).map((key) => required(`data[${key}]`));
  switch (type) {
    case 'kubernetes.io/tls':
      return need('tls.crt', 'tls.key');
    case 'kubernetes.io/ssh-auth':
      return need('ssh-privatekey');
    case 'kubernetes.io/basic-auth':
      return Object.hasOwn(data, 'username') || Object.hasOwn(data, 'password') ? [] : need('username', 'password');
    case 'kubernetes.io/dockerconfigjson':
      return validateJson(data, '.dockerconfigjson');
    case 'kubernetes.io/dockercfg':
      return validateJson(data, '.dockercfg');
    case 'kubernetes.io/service-account-token':
      return (metadata.annotations?.['kubernetes.io/service-account.name'] ?? '') === ''
        ? [required('metadata.annotations[kubernetes.io/service-account.name]')]
        : [];
    default:
      return [];
  }
}

function validateJson(data: Readonly<Record<string, string>>, key: string): readonly FieldProblem[] {
  const text = data[key];
  if (text === undefined) return [required(`data[${key}]`)];
  try {
    JSON.parse(new TextDecoder().decode(base64Decode(text)));
    return [];
  } catch {
    return [invalid(`data[${key}]`, '<secret contents redacted>', 'must be valid JSON')]; // the text itself is a secret
  }
}
