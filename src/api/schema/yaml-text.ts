import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, type Tags } from 'yaml';
import { InvalidInput, messageOf } from '#base/errors.ts';
import { quote } from '../quote.ts';
import { parseJsonText } from './json-text.ts';

export interface ParsedYaml {
  readonly value: unknown;
  /** `line 9: key "foo" already set in map`, in order. */
  readonly duplicates: readonly string[];
}

/** Aliases that a document may unfold to: more is an attack. */
const maxAliasCount = 100;

/**
 * Reads the first document of a text as upstream's reader of YAML 1.1 does: `yes` is true, `0644` is octal, times stay text.
 *
 * @throws {InvalidInput} when it cannot be read
 */
export function parseYamlText(text: string): ParsedYaml {
  const json = asJson(text);
  if (json !== undefined) return json;
  const lines = new LineCounter();
  const document = parseDocument(text, { version: '1.1', customTags: jsonTags, uniqueKeys: false, lineCounter: lines, prettyErrors: false });
  const fatal = document.errors.find(({ code }) => code !== 'MULTIPLE_DOCS');
  if (fatal !== undefined) throw new InvalidInput({ message: `yaml: line ${lines.linePos(fatal.pos[0]).line}: ${fatal.message}` });
  const duplicates = duplicatesIn(document.contents, lines);
  try {
    return { value: document.toJS({ maxAliasCount }), duplicates };
  } catch (cause) {
    throw new InvalidInput({ message: `yaml: ${messageOf(cause)}`, cause });
  }
}

/** Most clients apply JSON, which is YAML too and is read many times faster. What is wrong with it is told as for YAML. */
function asJson(text: string): ParsedYaml | undefined {
  if (!/^\s*\{/.test(text)) return undefined;
  try {
    const { value, fields } = parseJsonText(text);
    return fields.length === 0 ? { value, duplicates: [] } : undefined;
  } catch (error) {
    if (error instanceof InvalidInput) return undefined;
    throw error;
  }
}

/** What JSON has no value for is text. */
function jsonTags(tags: Tags): Tags {
  return tags.filter(
    (tag) => typeof tag === 'string' || !(/:(timestamp|binary|omap|pairs|set)$/.test(tag.tag) || ('format' in tag && tag.format === 'TIME')),
  );
}

/** In upstream's order: what is inside a value comes before the key that it is the second value of, and the value says the line. */
function duplicatesIn(node: unknown, lines: LineCounter): readonly string[] {
  if (isSeq(node)) return node.items.flatMap((item) => duplicatesIn(item, lines));
  if (!isMap(node)) return [];
  const seen = new Set<unknown>();
  return node.items.flatMap(({ key, value }) => {
    const inside = duplicatesIn(value, lines);
    const name = isScalar(key) ? key.value : undefined;
    if (name === undefined || name === '<<') return inside;
    if (!seen.has(name)) {
      seen.add(name);
      return inside;
    }
    const at = (isNode(value) ? value : isNode(key) ? key : undefined)?.range?.[0] ?? 0;
    return [...inside, `line ${lines.linePos(at).line}: key ${typeof name === 'string' ? quote(name) : String(name)} already set in map`];
  });
}
