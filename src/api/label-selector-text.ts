import { InvalidInput } from '#base/errors.ts';
import { invalid, problemText } from './field-problem.ts';
import { labelValueProblems, qualifiedNameProblems } from './rules/names.ts';

export interface LabelRequirement {
  readonly key: string;
  readonly operator: 'in' | 'notin' | 'exists' | '!' | '>' | '<';
  /** Empty for `exists` and `!`; one integer for `>` and `<`. */
  readonly values: readonly string[];
}

/** The requirements of `a=b,c in (d,e),!f`; all must be met. @throws {InvalidInput} with upstream's message */
export function parseLabelRequirements(text: string): readonly LabelRequirement[] {
  const reader = new TokenReader(text);
  const requirements: LabelRequirement[] = [];
  if (reader.peek().kind === 'end') return requirements;
  for (;;) {
    const next = reader.peek();
    if (next.kind !== 'word' && next.text !== '!') throw unexpected(next, "!, identifier, or 'end of string'");
    requirements.push(checked(parseRequirement(reader)));
    const separator = reader.take();
    if (separator.kind === 'end') return requirements;
    if (separator.text !== ',') throw unexpected(separator, "',' or 'end of string'");
    const after = reader.peek();
    if (after.kind !== 'word' && after.text !== '!') throw unexpected(after, "identifier after ','");
  }
}

interface Token {
  readonly kind: 'word' | 'sign' | 'end';
  readonly text: string;
}

class TokenReader {
  readonly #tokens: readonly Token[];
  #next = 0;

  constructor(text: string) {
    const found = text.match(/==|!=|[=!(),<>]|[^\s=!(),<>]+/g) ?? [];
    this.#tokens = found.map((token) => ({ kind: /^[=!(),<>]/.test(token) ? 'sign' : 'word', text: token }));
  }

  peek(): Token {
    return this.#tokens[this.#next] ?? { kind: 'end', text: '' };
  }

  take(): Token {
    const token = this.peek();
    this.#next += 1;
    return token;
  }
}

function parseRequirement(reader: TokenReader): LabelRequirement {
  const isNegated = reader.peek().text === '!';
  if (isNegated) reader.take();
  const key = reader.take();
  if (key.kind !== 'word') throw unexpected(key, 'identifier');
  if (isNegated) return { key: key.text, operator: '!', values: [] };
  const next = reader.peek();
  if (next.kind === 'end' || next.text === ',') return { key: key.text, operator: 'exists', values: [] };
  const operator = reader.take().text;
  switch (operator) {
    case '=':
    case '==':
      return { key: key.text, operator: 'in', values: [parseExactValue(reader)] };
    case '!=':
      return { key: key.text, operator: 'notin', values: [parseExactValue(reader)] };
    case '<':
    case '>':
      return { key: key.text, operator, values: [parseExactValue(reader)] };
    case 'in':
    case 'notin':
      return { key: key.text, operator, values: parseValues(reader) };
    default:
      throw unexpected(next, 'in, notin, =, ==, !=, gt, lt');
  }
}

function parseExactValue(reader: TokenReader): string {
  const next = reader.peek();
  if (next.kind === 'end' || next.text === ',') return '';
  if (next.kind !== 'word') throw unexpected(next, 'identifier');
  return reader.take().text;
}

function parseValues(reader: TokenReader): readonly string[] {
  const open = reader.take();
  if (open.text !== '(') throw unexpected(open, "'('");
  const values: string[] = [];
  for (;;) {
    values.push(reader.peek().kind === 'word' ? reader.take().text : '');
    const separator = reader.take();
    if (separator.text === ')') return [...new Set(values)];
    if (separator.text !== ',') throw unexpected(separator, "',', ')' or identifier");
  }
}

function checked(requirement: LabelRequirement): LabelRequirement {
  const { key, operator, values } = requirement;
  const problems = qualifiedNameProblems(key).map((problem) => invalid('key', key, problem));
  if (operator === '<' || operator === '>') {
    const bad = values.find((value) => !/^[-+]?\d+$/.test(value));
    if (bad !== undefined) problems.push(invalid('values[0]', bad, "for 'Gt', 'Lt' operators, the value must be an integer"));
  } else {
    problems.push(
      ...values.flatMap((value, index) => labelValueProblems(value).map((problem) => invalid(`values[${index}][${key}]`, value, problem))),
    );
  }
  const first = problems[0];
  if (first !== undefined) throw new InvalidInput({ message: `unable to parse requirement: ${problemText(first)}` });
  return requirement;
}

function unexpected(found: Token, expected: string): InvalidInput {
  return new InvalidInput({ message: `unable to parse requirement: found '${found.text}', expected: ${expected}` });
}
