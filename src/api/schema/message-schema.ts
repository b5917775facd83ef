import { generatedTables } from './generated/tables.ts';

export type ScalarType = 'string' | 'bool' | 'int32' | 'int64' | 'double' | 'bytes';

/** How a message looks in JSON; most are objects of their fields. */
export type JsonForm =
  | 'object'
  | 'time'
  | 'micro-time'
  | 'duration'
  | 'quantity'
  | 'int-or-string'
  /** Any JSON object: RawExtension, FieldsV1. */
  | 'raw-object'
  /** Any JSON value. */
  | 'any'
  | 'string-list'
  /** A JSON schema, or the other thing that the name says. */
  | 'schema-or-array'
  | 'schema-or-bool'
  | 'schema-or-strings';

export interface FieldSchema {
  /** As in JSON. */
  readonly name: string;
  /** As in protobuf. */
  readonly number: number;
  readonly shape: 'single' | 'list' | 'map';
  /** Type of the value, of a list's items, of a map's values; a scalar or the name of a message. */
  readonly type: ScalarType | 'message';
  /** Present when `type` is `message`. */
  readonly message: MessageSchema | undefined;
  readonly required: boolean;
  /** Its fields are fields of the parent in JSON. */
  readonly inline: boolean;
  readonly listType: 'map' | 'set' | 'atomic' | 'granular' | undefined;
  readonly listKeys: readonly string[];
  readonly patchStrategies: readonly ('merge' | 'replace' | 'retainKeys')[];
  readonly mergeKey: string | undefined;
  /** What the key of a list item counts as when it is absent. */
  readonly default: string | undefined;
}

export interface MessageSchema {
  /** Package and message, such as `core.v1.PodSpec`. */
  readonly name: string;
  readonly form: JsonForm;
  /** As in protobuf. */
  readonly fields: readonly FieldSchema[];
  /** As in JSON: inlined messages are flattened; `apiVersion` and `kind` of a kind are not among them. */
  readonly jsonFields: ReadonlyMap<string, FieldSchema>;
  /** Present when objects of this message are stored: then JSON has `apiVersion` and `kind` too. */
  readonly scope: 'Namespaced' | 'Cluster' | undefined;
  /** Whoever applies it owns it as a whole. */
  readonly isAtomic: boolean;
}

/**
 * The schema of a message of `src/api/proto`, parsed when it is first asked for.
 *
 * @param name such as `core.v1.Pod`
 * @throws {Error} when there is no such message
 */
export function schemaOf(name: string): MessageSchema {
  const known = parsed.get(name);
  if (known !== undefined) return known;
  const dot = name.lastIndexOf('.');
  const text = generatedTables[name.slice(0, dot)]?.[name.slice(dot + 1)];
  if (text === undefined) throw new Error(`there is no message ${name} in src/api/proto`);
  const schema = parseMessage(name, text);
  parsed.set(name, schema);
  return schema;
}

/** Whether there is such a message. */
export function hasMessage(name: string): boolean {
  const dot = name.lastIndexOf('.');
  return generatedTables[name.slice(0, dot)]?.[name.slice(dot + 1)] !== undefined;
}

const parsed = new Map<string, MessageSchema>();
const scalars: ReadonlySet<string> = new Set(['string', 'bool', 'int32', 'int64', 'double', 'bytes']);

const forms: Readonly<Record<string, JsonForm>> = {
  'meta.v1.Time': 'time',
  'meta.v1.MicroTime': 'micro-time',
  'meta.v1.Duration': 'duration',
  'meta.v1.FieldsV1': 'raw-object',
  'meta.v1.Verbs': 'string-list',
  'api.resource.Quantity': 'quantity',
  'util.intstr.IntOrString': 'int-or-string',
  'runtime.RawExtension': 'raw-object',
  'authentication.v1.ExtraValue': 'string-list',
  'authorization.v1.ExtraValue': 'string-list',
  'certificates.v1.ExtraValue': 'string-list',
  'apiextensions.v1.JSON': 'any',
  'apiextensions.v1.JSONSchemaPropsOrArray': 'schema-or-array',
  'apiextensions.v1.JSONSchemaPropsOrBool': 'schema-or-bool',
  'apiextensions.v1.JSONSchemaPropsOrStringArray': 'schema-or-strings',
};

/** `scope|field;field` (or `atomic` instead of the scope) where a field is `name number type[ tag…]`: what `tools/gen-api-schema.ts` prints. */
function parseMessage(name: string, text: string): MessageSchema {
  const bar = text.indexOf('|');
  const scope = text.slice(0, bar);
  const body = text.slice(bar + 1);
  const pkg = name.slice(0, name.lastIndexOf('.'));
  const fields = body === '' ? [] : body.split(';').map((field) => parseField(pkg, field));
  let flat: ReadonlyMap<string, FieldSchema> | undefined;
  return {
    name,
    form: forms[name] ?? 'object',
    fields,
    scope: scope === 'Namespaced' || scope === 'Cluster' ? scope : undefined,
    isAtomic: scope === 'atomic',
    get jsonFields() {
      flat ??= new Map(
        fields.flatMap((field) => (field.inline && field.message !== undefined ? [...field.message.jsonFields] : [[field.name, field]])),
      );
      return flat;
    },
  };
}

function parseField(pkg: string, text: string): FieldSchema {
  const [name = '', number = '', typeText = '', ...tags] = text.split(' ');
  const shape = typeText.startsWith('[]') ? 'list' : typeText.startsWith('{}') ? 'map' : 'single';
  const type = shape === 'single' ? typeText : typeText.slice(2);
  const isScalar = scalars.has(type);
  const tag = (key: string) => tags.find((one) => one.startsWith(`${key}=`))?.slice(key.length + 1);
  const messageName = type.includes('.') ? type : `${pkg}.${type}`;
  return {
    name,
    number: Number(number),
    shape,
    type: isScalar ? (type as ScalarType) : 'message', // the set above holds exactly the members of the type
    get message() {
      return isScalar ? undefined : schemaOf(messageName);
    },
    required: tags.includes('!'),
    inline: tags.includes('inline'),
    listType: tag('lt') as FieldSchema['listType'], // printed by our own generator from a closed set
    listKeys: tag('lk')?.split(',') ?? [],
    patchStrategies: (tag('ps')?.split(',') ?? []) as FieldSchema['patchStrategies'], // the same
    mergeKey: tag('mk'),
    default: tag('def'),
  };
}
