/**
 * Writes the declarations of the test kit to `dist/types/`, for the published package: what `create-cluster.ts` reaches and no more, with
 * `#layer/…` turned into relative paths, because `imports` of package.json speak of the sources, which are not published.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = resolve(root, 'src');
const target = resolve(root, 'dist/types');
const entry = resolve(source, 'testing/create-cluster.ts');

const config = ts.getParsedCommandLineOfConfigFile(
  resolve(root, 'tsconfig.json'),
  { noEmit: false, declaration: true, emitDeclarationOnly: true, incremental: false, rootDir: source, outDir: target },
  { ...ts.sys, onUnRecoverableConfigFileDiagnostic: (problem) => fail([problem]) },
);
if (config === undefined) throw new Error('tsconfig.json cannot be read');
const { tsBuildInfoFile: _, ...options } = config.options;
const program = ts.createProgram([entry], options);
const declarations = new Map<string, string>();
const { diagnostics } = program.emit(undefined, (path, text) => declarations.set(resolve(path), text), undefined, true);
fail([...ts.getPreEmitDiagnostics(program), ...diagnostics]);

rmSync(target, { recursive: true, force: true });
const written = new Set<string>();
write(declarationOf(entry));

function write(path: string): void {
  if (written.has(path)) return;
  written.add(path);
  const text = declarations.get(path);
  if (text === undefined) throw new Error(`${relative(root, path)} is imported, but was not made`);
  const reached: string[] = [];
  const published = text.replace(/(\bfrom |\bimport\(|\bimport )'([#.][^']+)\.ts'/g, (_whole, before: string, specifier: string) => {
    const file = specifier.startsWith('#') ? resolve(source, specifier.slice(1)) : resolve(dirname(path).replace(target, source), specifier);
    reached.push(declarationOf(`${file}.ts`));
    const way = relative(dirname(path), file.replace(source, target));
    return `${before}'${way.startsWith('.') ? way : `./${way}`}.js'`;
  });
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, published);
  for (const next of reached) write(next);
}

function declarationOf(file: string): string {
  return file.replace(source, target).replace(/\.ts$/, '.d.ts');
}

function fail(problems: readonly ts.Diagnostic[]): void {
  if (problems.length === 0) return;
  console.error(ts.formatDiagnostics(problems, { getCanonicalFileName: (name) => name, getCurrentDirectory: () => root, getNewLine: () => '\n' }));
  process.exit(1);
}
