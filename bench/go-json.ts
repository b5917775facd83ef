/** Fields of CRI messages that are maps: their keys are data. */
const maps = new Set(['labels', 'annotations', 'sysctls', 'unified']);

/** Lists of variables: their values are bytes with us. */
const variables = new Set(['envs']);

/** The JSON that containerd prints of a CRI message (snake_case names) as ts-proto's partial message (camelCase names). */
export function fromGoJson(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => (variables.has(key) ? variable(item) : fromGoJson(item)));
  if (typeof value !== 'object' || value === null || maps.has(key)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [camelCase(name), fromGoJson(inner, name)]));
}

function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** containerd knows them as text. */
function variable(item: unknown): unknown {
  const { key = '', value = '' } = item as { readonly key?: string; readonly value?: string };
  return { key, value: Buffer.from(value) };
}
