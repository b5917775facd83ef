import { InvalidInput } from '#base/errors.ts';

const start = /^([A-Za-z_][A-Za-z0-9_.-]*)='/;

/**
 * The variables of a file that a container wrote for others: `NAME='value'`, empty lines and comments. A value may go over several lines; what
 * is between its quotes is taken as it is.
 *
 * @throws {InvalidInput} for anything else: the strict subset of a shell's syntax that upstream takes
 */
export function parseEnvFile(text: string): ReadonlyMap<string, string> {
  const variables = new Map<string, string>();
  let rest = text;
  for (let line = 1; rest !== ''; line += 1) {
    const trimmed = rest.replace(/^[ \t]+/, '');
    const found = start.exec(trimmed);
    if (found === null) {
      const [first = ''] = trimmed.split('\n', 1);
      if (first.trim() !== '' && !first.startsWith('#')) throw new InvalidInput({ message: `invalid environment variable format at line ${line}` });
      rest = trimmed.slice(first.length + 1);
      continue;
    }
    const from = found[0].length;
    const end = trimmed.indexOf("'", from);
    const after = end < 0 ? '' : (/^[ \t\r]*(?:\n|$)/.exec(trimmed.slice(end + 1))?.[0] ?? undefined);
    if (end < 0 || after === undefined) throw new InvalidInput({ message: `invalid environment variable format at line ${line}` });
    variables.set(found[1] ?? '', trimmed.slice(from, end));
    rest = trimmed.slice(end + 1 + after.length);
    line += trimmed.slice(from, end).split('\n').length - 1;
  }
  return variables;
}
