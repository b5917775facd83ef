// Which layer may import which; see ARCHITECTURE.md.
const layers = {
  base: [],
  api: ['base'],
  startup: ['base', 'api'],
  wire: ['base'],
  client: ['base', 'api'],
  store: ['base', 'api', 'wire'],
  apiserver: ['base', 'api', 'startup', 'store', 'wire', 'client/transport'],
  scheduler: ['base', 'api', 'startup', 'client'],
  controllers: ['base', 'api', 'startup', 'client'],
  kubelet: ['base', 'api', 'startup', 'client', 'wire'],
  os: ['base', 'kubelet/ports', 'cluster/ports'],
  cluster: ['base', 'api', 'client', 'wire', 'pki'],
  pki: ['base'],
  testing: ['base', 'api', 'client', 'cluster', 'wire'],
  cli: ['base', 'api', 'client', 'startup', 'cluster'],
  bin: ['base', 'api', 'startup', 'wire', 'client', 'store', 'apiserver', 'scheduler', 'controllers', 'kubelet', 'os', 'cluster', 'pki', 'cli'],
};
const inLayer = (name) => `^src/${name}[/.]`;
const tests = '[.]test[.]ts$|/(testing|contracts)/';
const siblings = (folder) => ({
  name: `siblings-apart: ${folder}`,
  severity: 'error',
  from: { path: `^src/${folder}/([^/.]+)`, pathNot: `${tests}|/index[.]ts$` },
  to: { path: `^src/${folder}/`, pathNot: `^src/${folder}/$1` },
});

module.exports = {
  forbidden: [
    ...Object.entries(layers).map(([name, allowed]) => ({
      name: `layer: ${name}`,
      severity: 'error',
      from: { path: inLayer(name), pathNot: tests },
      to: { path: '^src/', pathNot: [name, ...allowed].map(inLayer) },
    })),
    ...['kubelet/pod-start/steps', 'cli/commands'].map(siblings),
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } } },
    {
      name: 'tests-stay-out-of-the-product',
      severity: 'error',
      from: { path: '^src/', pathNot: `${tests}|^src/testing/` },
      to: { path: `[.]test[.]ts$|^src/[^/]+/.*testing/` },
    },
    {
      name: 'internal-is-private',
      severity: 'error',
      from: { path: '^src/([^/]+)/' },
      to: { path: '/internal/', pathNot: ['^src/$1/', 'node_modules'] },
    },
    {
      name: 'fakes-are-for-tests',
      severity: 'error',
      from: { path: '^src/', pathNot: `${tests}|^src/os/` },
      to: { path: '^src/os/(memory|contracts)/' },
    },
    {
      name: 'the-world-is-behind-ports',
      severity: 'error',
      from: { path: '^src/', pathNot: `${tests}|^src/(os|wire|store|bin|testing)/` },
      to: { dependencyTypes: ['core'], path: '^(child_process|fs|fs/promises|net|http|https|http2|dgram|tls)$' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};
