/**
 * Fails when a Markdown file of the repository speaks of what is not there: the target of a link with its heading, a path in code that
 * starts with a folder of the repository or of `src`, a script of package.json.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const foldersIn = (folder: string) =>
  readdirSync(resolve(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && !['node_modules', 'dist'].includes(entry.name))
    .map((entry) => entry.name);
const starts = { '': foldersIn('.'), src: foldersIn('src') };
const { scripts } = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8')) as { readonly scripts: Readonly<Record<string, string>> };
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], { cwd: root, encoding: 'utf8' })
  .trim()
  .split('\n');

const problems = files
  .filter((file) => existsSync(resolve(root, file)))
  .flatMap((file) => problemsOf(file, readFileSync(resolve(root, file), 'utf8')));
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

function problemsOf(file: string, text: string): string[] {
  const code = [...text.matchAll(/^```\w*\n([\s\S]*?)^```$|(?<!`)`([^`\n]+)`(?!`)/gm)].map((match) => match[1] ?? match[2] ?? '');
  const prose = text.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]+`/g, 'code');
  const targets = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? '');
  return [
    ...targets.map((target) => problemOfLink(file, target)),
    ...code.flatMap((words) => words.split(/[\s,;()'"]+/)).map(problemOfPath),
    ...code.flatMap((words) => [...words.matchAll(/\bnpm run (?:--\w+ )*([\w:-]+)/g)]).map(([, name = '']) => problemOfScript(name)),
  ].flatMap((problem) => (problem === undefined ? [] : [`${file}: ${problem}`]));
}

function problemOfLink(file: string, target: string): string | undefined {
  if (/^[a-z]+:/.test(target)) return undefined; // not ours to check: a test needs no network
  const [path = '', heading] = target.split('#');
  const found = path === '' ? resolve(root, file) : resolve(root, dirname(file), path);
  if (!existsSync(found)) return `the link ${target} leads nowhere: ${relative(root, found)} does not exist`;
  if (heading === undefined || anchorsOf(readFileSync(found, 'utf8')).includes(heading)) return undefined;
  return `the link ${target} leads to no heading of ${relative(root, found)}`;
}

/** As GitHub names them. */
function anchorsOf(text: string): string[] {
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
  return [...headings, ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id)];
}

function problemOfPath(word: string): string | undefined {
  const path = word.replace(/^\.\//, '').replace(/[.:]$/, '');
  const known = path.replace(/[^/]*[<>*…{}$][\s\S]*$/, ''); // what stands before a placeholder
  const [first = '', ...rest] = known.split('/');
  if (rest.length === 0) return undefined;
  const bases = Object.entries(starts).filter(([, folders]) => folders.includes(first));
  if (bases.length === 0 || bases.some(([base]) => existsSync(resolve(root, base, known)))) return undefined;
  return `\`${word}\` does not exist`;
}

function problemOfScript(name: string): string | undefined {
  return scripts[name] === undefined ? `\`npm run ${name}\` is no script of package.json` : undefined;
}
