/** A JSON value as Go prints it (`%v`): `map[spec:map[replicas:3]]`, `[a b]`, `<nil>`. */
export function goText(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (typeof value !== 'object') return String(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `map[${entries.map(([key, inner]) => `${key}:${goText(inner)}`).join(' ')}]`;
}
