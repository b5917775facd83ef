/**
 * Prints `src/api/types/<group>-<version>.ts` from `src/api/proto/*.proto`: one interface a message, as the type has it in JSON.
 * Trailing comments of the `.proto` files carry what protobuf cannot say: `+required`, `+inline`, `+json=`, `+kind scope=`.
 * `--check` writes nothing and fails when a file is stale.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import protobuf from 'protobufjs';

const protoDir = new URL('../src/api/proto/', import.meta.url);
const typesDir = new URL('../src/api/types/', import.meta.url);
const isCheck = process.argv.includes('--check');

/** Messages whose JSON form is not an object of their fields. */
const jsonForms: Readonly<Record<string, string>> = {
  'meta.v1.Time': 'string',
  'meta.v1.MicroTime': 'string',
  'meta.v1.Duration': 'string',
  'meta.v1.FieldsV1': 'Readonly<Record<string, unknown>>',
  'meta.v1.Verbs': 'readonly string[]',
  'api.resource.Quantity': 'string',
  'util.intstr.IntOrString': 'number | string',
  'runtime.RawExtension': 'Readonly<Record<string, unknown>>',
  'authentication.v1.ExtraValue': 'readonly string[]',
  'authorization.v1.ExtraValue': 'readonly string[]',
  'certificates.v1.ExtraValue': 'readonly string[]',
  'apiextensions.v1.JSON': 'unknown',
  'apiextensions.v1.JSONSchemaPropsOrArray': 'JSONSchemaProps | readonly JSONSchemaProps[]',
  'apiextensions.v1.JSONSchemaPropsOrBool': 'JSONSchemaProps | boolean',
  'apiextensions.v1.JSONSchemaPropsOrStringArray': 'JSONSchemaProps | readonly string[]',
};
const scalars: Readonly<Record<string, string>> = { string: 'string', bytes: 'string', bool: 'boolean' };
const tagsOf = (comment: string | null) =>
  new Map(
    (comment ?? '')
      .split(/\s+/)
      .filter((word) => word.includes('+') || word.includes('='))
      .map((word) => {
        const [key = '', value = ''] = word.replace(/^\+/, '').split('=');
        return [key, value] as const;
      }),
  );

const root = new protobuf.Root();
const files = readdirSync(protoDir)
  .filter((name) => name.endsWith('.proto'))
  .sort();
for (const file of files) {
  protobuf.parse(readFileSync(new URL(file, protoDir), 'utf8'), root, { alternateCommentMode: true, keepCase: true });
}
root.resolveAll();

const fullName = (type: protobuf.ReflectionObject) => type.fullName.replace(/^\.k8s\./, '');
const packageOf = (name: string) => name.slice(0, name.lastIndexOf('.'));
const shortName = (name: string) => name.slice(name.lastIndexOf('.') + 1);
const fileOf = (pkg: string) => pkg.replaceAll('.', '-');

function fieldType(field: protobuf.Field, use: (name: string) => string): string {
  const target = field.resolvedType;
  const one = target === null ? (scalars[field.type] ?? 'number') : use(fullName(target));
  if (field instanceof protobuf.MapField) return `Readonly<Record<string, ${one}>>`;
  return field.repeated ? `readonly ${one.includes(' ') ? `(${one})` : one}[]` : one;
}

function printMessage(type: protobuf.Type, use: (name: string) => string): string {
  const name = fullName(type);
  const scope = tagsOf(type.comment).get('scope');
  const inlined: string[] = [];
  const lines: string[] = [];
  for (const field of type.fieldsArray) {
    const tags = tagsOf(field.comment);
    if (tags.has('inline') && field.resolvedType !== null) {
      inlined.push(use(fullName(field.resolvedType)));
      continue;
    }
    if (scope !== undefined && field.name === 'metadata') continue;
    const json = tags.get('json') ?? field.name;
    const key = /^[A-Za-z_$][\w$]*$/.test(json) ? json : `'${json}'`;
    const required =
      tags.has('required') || (name === 'meta.v1.ObjectMeta' && ['name', 'uid', 'resourceVersion', 'creationTimestamp'].includes(json));
    const text = name === 'meta.v1.ObjectMeta' && json === 'namespace' ? 'undefined' : fieldType(field, use);
    if (text !== 'undefined') lines.push(`  readonly ${key}${required ? '' : '?'}: ${text}${required ? '' : ' | undefined'};`);
    else lines.push('  readonly namespace?: string | undefined;');
  }
  if (scope !== undefined) {
    const meta = use(scope === 'Namespaced' ? 'meta.v1.NamespacedMeta' : 'meta.v1.ObjectMeta');
    lines.unshift('  readonly apiVersion: string;', '  readonly kind: string;', `  readonly metadata: ${meta};`);
  }
  const parents = inlined.length > 0 ? ` extends ${inlined.join(', ')}` : '';
  if (lines.length === 0)
    return parents === ''
      ? `export type ${shortName(name)} = Readonly<Record<string, never>>;\n`
      : `export interface ${shortName(name)}${parents} {}\n`;
  return `export interface ${shortName(name)}${parents} {\n${lines.join('\n')}\n}\n`;
}

const handWritten = `/** Metadata of a stored object in a namespace. */
export interface NamespacedMeta extends ObjectMeta {
  readonly namespace: string;
}

/** Metadata of a template: nothing in it is given yet. */
export type TemplateMeta = Partial<ObjectMeta>;
`;

for (const file of files) {
  const pkg = file.replace(/\.proto$/, '');
  const imports = new Map<string, Set<string>>();
  const use = (name: string): string => {
    const form = jsonForms[name];
    const wanted = form ?? shortName(name);
    if (form !== undefined && !form.includes('JSONSchemaProps')) return form;
    const text = form ?? wanted;
    const owner = packageOf(name);
    if (owner !== pkg) {
      const names = imports.get(owner) ?? new Set();
      imports.set(owner, names.add(wanted));
    }
    return text;
  };
  const namespace = root.lookup(`k8s.${pkg}`);
  if (!(namespace instanceof protobuf.Namespace)) continue;
  const types = namespace.nestedArray
    .filter((one): one is protobuf.Type => one instanceof protobuf.Type)
    .filter((type) => jsonForms[fullName(type)] === undefined)
    .filter((type) => !(type.name.endsWith('List') && type.fields['items'] !== undefined));
  if (types.length === 0) continue;
  const bodies = types.map((type) => {
    const text = printMessage(type, use);
    const isTemplate = tagsOf(type.comment).get('scope') === undefined && type.name !== 'ObjectMeta';
    return isTemplate && text.includes('metadata?: ObjectMeta')
      ? text.replace('metadata?: ObjectMeta', `metadata?: ${use('meta.v1.TemplateMeta')}`)
      : text;
  });
  if (pkg === 'meta.v1') bodies.push(handWritten);
  const all = bodies.join('\n');
  const heads = [...imports].sort().flatMap(([owner, names]) => {
    const used = [...names].filter((name) => new RegExp(`\\b${name}\\b`).test(all)).sort();
    return used.length > 0 ? [`import type { ${used.join(', ')} } from './${fileOf(owner)}.ts';`] : [];
  });
  const head = `// Generated by tools/gen-api-types.ts from src/api/proto/${file}. Do not edit.\n`;
  const target = new URL(`${fileOf(pkg)}.ts`, typesDir);
  const text = `${head}${heads.join('\n')}${heads.length > 0 ? '\n\n' : '\n'}${all}`;
  if (existsSync(target) && readFileSync(target, 'utf8') === text) continue;
  if (isCheck) {
    console.error(`src/api/types/${fileOf(pkg)}.ts is stale: run npx tsx tools/gen-api-types.ts`);
    process.exitCode = 1;
  } else writeFileSync(target, text);
}
