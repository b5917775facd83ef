/**
 * The whole test command. Unit tests run in one process (a generated entry imports them), integration and end-to-end files three at a
 * time, a process and a deadline each. Closes with the line `N passed, N failed`.
 *
 * usage: run-tests.ts [unit|integration|e2e|conformance ...] [words that a file's path must have ...]
 */
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

interface FileResult extends Counts {
  readonly file: string;
  readonly seconds: number;
  readonly output: string;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const levels = ['unit', 'conformance', 'integration', 'e2e'] as const;
const suffixes = { unit: '.test.ts', conformance: '.test.ts', integration: '.itest.ts', e2e: '.e2e.ts' } as const;
const folders = { unit: 'src', conformance: 'tests/conformance', integration: 'tests/integration', e2e: 'tests/e2e' } as const;
const fileDeadlineMs = process.env['KUBERNODE_SOAK'] === undefined ? 240_000 : 1_800_000;
const filesAtOnce = 3;

function filesOf(level: (typeof levels)[number], words: readonly string[]): string[] {
  let names: string[];
  try {
    names = readdirSync(`${root}/${folders[level]}`, { recursive: true, encoding: 'utf8' });
  } catch {
    return [];
  }
  return names
    .filter((name) => name.endsWith(suffixes[level]))
    .map((name) => `${folders[level]}/${name}`)
    .filter((file) => words.every((word) => file.includes(word)))
    .sort();
}

/** Runs one file in a process group of its own, which is ended when the file is over its time. */
function runFile(file: string, label: string): Promise<FileResult> {
  return new Promise((resolve) => {
    const startedAt = performance.now();
    const child = spawn(
      process.execPath,
      ['--import', 'tsx', `--test-reporter=${root}/tools/test-reporter.mjs`, '--test-reporter-destination=stdout', file],
      {
        cwd: root,
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, NO_COLOR: '1' },
      },
    );
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    }, fileDeadlineMs);
    child.on('close', (code) => {
      clearTimeout(timer);
      const text = Buffer.concat(chunks).toString('utf8');
      const summary = /^## (\{.*\})$/m.exec(text)?.[1];
      const counts: Counts = summary === undefined ? { passed: 0, failed: 0, skipped: 0 } : (JSON.parse(summary) as Counts);
      const isBroken = summary === undefined || (code !== 0 && counts.failed === 0);
      const why = isLate ? `\n${label} did not end within ${fileDeadlineMs / 1000} s` : isBroken ? `\n${label} ended with exit code ${code}` : '';
      resolve({
        ...counts,
        failed: counts.failed + (isBroken ? 1 : 0),
        file: label,
        seconds: (performance.now() - startedAt) / 1000,
        output: text.replace(/^## .*\n/m, '') + why,
      });
    });
  });
}

function unitEntry(files: readonly string[]): string {
  mkdirSync(`${root}/.cache`, { recursive: true });
  const entry = `${root}/.cache/unit-tests.ts`;
  writeFileSync(entry, files.map((file) => `import '../${file}';\n`).join(''));
  return entry;
}

function print(result: FileResult): void {
  const verdict = result.failed > 0 ? 'FAILED' : 'ok';
  const skipped = result.skipped > 0 ? `, ${result.skipped} skipped` : '';
  console.log(`${verdict.padEnd(6)} ${result.file}: ${result.passed} passed, ${result.failed} failed${skipped} (${result.seconds.toFixed(1)} s)`);
  if (result.failed > 0) console.log(result.output.trimEnd().replace(/^/gm, '  '));
}

const words = process.argv.slice(2);
const wantedLevels = levels.filter((level) => words.includes(level));
const pathWords = words.filter((word) => !(levels as readonly string[]).includes(word));
const results: FileResult[] = [];
const record = (result: FileResult) => {
  results.push(result);
  print(result);
};
const queue: string[] = [];
for (const level of wantedLevels.length > 0 ? wantedLevels : levels) {
  const files = filesOf(level, pathWords);
  if (level === 'unit' && files.length > 0) record(await runFile(unitEntry(files), `unit tests (${files.length} files)`));
  else if (level !== 'unit') queue.push(...files);
}
await Promise.all(
  Array.from({ length: filesAtOnce }, async () => {
    for (let file = queue.shift(); file !== undefined; file = queue.shift()) record(await runFile(file, file));
  }),
);
const sum = (key: keyof Counts) => results.reduce((total, result) => total + result[key], 0);
const skipped = sum('skipped') > 0 ? `, ${sum('skipped')} skipped` : '';
console.log(`${sum('passed')} passed, ${sum('failed')} failed${skipped}`);
if (sum('passed') + sum('failed') === 0) console.log('error: no test matched: see the usage in tools/run-tests.ts');
process.exitCode = sum('failed') > 0 || sum('passed') === 0 ? 1 : 0;
