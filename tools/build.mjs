// Bundles each program into one file: loading takes half the time and three quarters of the memory of loose modules.
import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const programs = readdirSync(`${root}/src/bin`).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));

rmSync(`${root}/dist`, { recursive: true, force: true }); // names of shared chunks change with their content
mkdirSync(`${root}/dist`, { recursive: true });
await build({
  entryPoints: [...programs.map((name) => `${root}/src/bin/${name}`), { in: `${root}/src/testing/create-cluster.ts`, out: 'testing' }].map((entry) =>
    typeof entry === 'string' ? { in: entry, out: entry.replace(/^.*\//, '').replace(/\.ts$/, '') } : entry,
  ),
  outdir: `${root}/dist`,
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  mainFields: ['module', 'main'], // of packages without `exports`: what is not imported is left out, and a third less is to load
  sourcemap: 'linked',
  sourcesContent: false,
  logLevel: 'warning',
  legalComments: 'none',
  external: ['libsql', 'koffi'], // they load a binary that lies beside them
  // Packages in CommonJS call `require` for Node's own modules.
  banner: { js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);" },
});
chmodSync(`${root}/dist/kubernode.js`, 0o755);
writeFileSync(`${root}/dist/.built`, '');
