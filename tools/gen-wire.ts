// Regenerates src/wire/generated from src/wire/proto: messages and generic service definitions, without a client.
// usage: node --import tsx tools/gen-wire.ts [--check]   (needs `protoc`: Debian's protobuf-compiler)
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const protoDir = join(root, 'src/wire/proto');
const generatedDir = join(root, 'src/wire/generated');

const options = {
  esModuleInterop: 'true',
  outputServices: 'generic-definitions',
  outputJsonMethods: 'false',
  outputPartialMethods: 'true',
  forceLong: 'number',
  importSuffix: '.ts',
  useExactTypes: 'false',
  oneof: 'unions-value',
  unrecognizedEnum: 'false',
  removeEnumPrefix: 'false',
  useOptionals: 'none',
  snakeToCamel: 'keys_json',
  useDate: 'false',
  stringEnums: 'false',
  enumsAsLiterals: 'true',
};

function generate(outDir: string): void {
  const protos = readdirSync(protoDir).filter((name) => name.endsWith('.proto'));
  execFileSync(
    'protoc',
    [
      `--plugin=protoc-gen-ts_proto=${join(root, 'node_modules/.bin/protoc-gen-ts_proto')}`,
      `--proto_path=${protoDir}`,
      `--ts_proto_out=${outDir}`,
      `--ts_proto_opt=${Object.entries(options)
        .map(([name, value]) => `${name}=${value}`)
        .join(',')}`,
      ...protos,
    ],
    { stdio: 'inherit' },
  );
  for (const name of filesBelow(outDir)) {
    const path = join(outDir, name);
    writeFileSync(path, roundLongs(readFileSync(path, 'utf8')));
  }
}

/**
 * The generator's decoders throw for integers above 2^53. CRI sends nanoseconds since 1970 (beyond it, and far below it for a sandbox that was
 * never started), where a loss of 256 ns does not matter and a list that cannot be read does.
 */
function roundLongs(source: string): string {
  return source.replace(
    /function longToNumber\(int64: .*?\n}\n/s,
    'function longToNumber(int64: { toString(): string }): number {\n  return globalThis.Number(int64.toString());\n}\n',
  );
}

function filesBelow(dir: string): readonly string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(dir.length + 1))
    .sort();
}

if (process.argv.includes('--check')) {
  const fresh = mkdtempSync(join(tmpdir(), 'gen-wire-'));
  try {
    generate(fresh);
    const stale = filesBelow(fresh).filter((name) => readFileSync(join(fresh, name), 'utf8') !== readFileSync(join(generatedDir, name), 'utf8'));
    const strangers = filesBelow(generatedDir).filter((name) => !filesBelow(fresh).includes(name));
    for (const name of [...stale, ...strangers])
      process.stderr.write(`src/wire/generated/${name} is not what src/wire/proto gives: run tools/gen-wire.ts\n`);
    if (stale.length + strangers.length > 0) process.exitCode = 1;
  } finally {
    rmSync(fresh, { recursive: true });
  }
} else {
  generate(generatedDir);
}
