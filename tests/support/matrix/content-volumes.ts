import type { Row } from './matrix.ts';
import type { Sight } from './sights.ts';

// Volumes whose content the kubelet writes: configMap, secret, downwardAPI, and projected with all of them.

export const contentObjects: readonly object[] = [
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'settings' },
    data: { colour: 'blue\n', size: 'big\n' },
    binaryData: { bytes: Buffer.from([0xde, 0xca, 0xfe, 0, 0xff]).toString('base64') },
  },
  { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys' }, stringData: { colour: 'red\n', password: 'open sesame\n' } },
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'elsewhere' } },
  { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys', namespace: 'elsewhere' }, stringData: { colour: 'another\n' } },
];

/** What the pods of these sights have to have. */
export const shownMetadata = { labels: { tier: 'front', app: 'shop' }, annotations: { motto: 'say "yes"\nor no', builder: 'me' } };
export const shownResources = {
  limits: { cpu: '1250m', memory: '64Mi', 'ephemeral-storage': '1Gi' },
  requests: { cpu: '10m', memory: '32Mi', 'ephemeral-storage': '1Mi' },
};

const listFiles = 'cd $V; find * -follow -type f -exec stat -L -c "%a %n" {} ";" | sort';

/** The rows that configMaps and secrets share, in volumes of their own and projected. */
function ofObject(type: 'configMap' | 'secret', name: string, content: string): readonly Sight[] {
  const plain = (more: object = {}, of = name) => ({ [type]: { [type === 'secret' ? 'secretName' : 'name']: of, ...more } });
  const projected = (more: object = {}, volume: object = {}) => ({ projected: { ...volume, sources: [{ [type]: { name, ...more } }] } });
  const items = [{ key: 'colour', path: 'a/path/to/it', mode: 0o400 }];
  const withAbsent = { optional: true, items: [...items, { key: 'absent', path: 'absent' }] };
  return [
    {
      volume: plain(),
      rows: [
        { feature: `${type}: a key is a file`, look: 'cat $V/colour', sees: content },
        { feature: `${type}: files have mode 0644 unless it is said`, look: 'stat -L -c %a $V/colour', sees: '644' },
        { feature: `${type}: files are links over one folder that is swapped`, look: 'readlink $V/colour', sees: '..data/colour' },
        { feature: `${type}: nobody writes there`, look: 'echo x > $V/colour', sees: /can't create \/v\d+\/colour: Read-only file system/ },
      ],
    },
    { volume: plain(), rows: [{ feature: `${type}: in several volumes of one pod`, look: 'cat $V/colour', sees: content }] },
    { volume: plain({ defaultMode: 0o440 }), rows: [{ feature: `${type}: defaultMode`, look: 'stat -L -c %a $V/colour', sees: '440' }] },
    { volume: plain({ items }), rows: [{ feature: `${type}: items choose keys, paths and modes`, look: listFiles, sees: '400 a/path/to/it' }] },
    {
      volume: plain({ optional: true }, 'absent'),
      rows: [{ feature: `subtle 46: ${type}: an optional one that is not there is an empty folder`, look: 'ls $V; echo none', sees: 'none' }],
    },
    {
      volume: plain(withAbsent),
      rows: [{ feature: `subtle 46: ${type}: an optional key that is not there is no file`, look: 'ls $V', sees: 'a' }],
    },
    {
      volume: projected({}, { defaultMode: 0o400 }),
      rows: [{ feature: `projected ${type}: keys and defaultMode`, look: 'stat -L -c %a $V/colour; cat $V/colour', sees: `400\n${content}` }],
    },
    {
      volume: projected({ items }),
      rows: [{ feature: `projected ${type}: items choose keys, paths and modes`, look: listFiles, sees: '400 a/path/to/it' }],
    },
    {
      volume: projected(withAbsent),
      rows: [{ feature: `subtle 46: projected ${type}: an optional key that is not there is no file`, look: 'ls $V', sees: 'a' }],
    },
  ];
}

const field = (path: string, fieldPath: string, more: object = {}) => ({ path, fieldRef: { fieldPath }, ...more });
/** `container`: absent from the field's own container, which has no limits, else the one that has `shownResources`. */
const resource = (path: string, containerName: string, name: string, divisor: object = {}) => ({
  path,
  resourceFieldRef: { containerName, resource: name, ...divisor },
});

const podItems = (limited: string, free: string): readonly object[] => [
  field('name', 'metadata.name', { mode: 0o400 }),
  field('namespace', 'metadata.namespace'),
  field('uid', 'metadata.uid'),
  field('labels', 'metadata.labels'),
  field('tier', "metadata.labels['tier']"),
  field('annotations', 'metadata.annotations'),
  field('motto', "metadata.annotations['motto']"),
  resource('cpu-limit', limited, 'limits.cpu', { divisor: '1m' }),
  resource('cpus', limited, 'limits.cpu'),
  resource('cpu-request', limited, 'requests.cpu', { divisor: '1m' }),
  resource('memory-limit', limited, 'limits.memory'),
  resource('memory-request', limited, 'requests.memory', { divisor: '1Mi' }),
  resource('disk-limit', limited, 'limits.ephemeral-storage', { divisor: '1Mi' }),
  resource('free-cpu', free, 'limits.cpu'),
  resource('free-memory', free, 'limits.memory'),
];

const show = (...files: readonly string[]) => `cd $V; for f in ${files.join(' ')}; do cat $f; echo; done`;
const podRows = (as: string): readonly Row[] => [
  {
    feature: `${as}: name, namespace and uid of the pod`,
    look: show('name', 'namespace', 'uid'),
    sees: ({ metadata }) => `${metadata.name}\n${metadata.namespace}\n${metadata.uid}`,
  },
  { feature: `${as}: labels, sorted and quoted`, look: 'cat $V/labels', sees: 'app="shop"\nmatrix="yes"\ntier="front"' },
  { feature: `${as}: annotations, sorted and quoted`, look: 'grep -v kubectl $V/annotations', sees: 'builder="me"\nmotto="say \\"yes\\"\\nor no"' },
  { feature: `${as}: a single label and annotation as they are`, look: show('tier', 'motto'), sees: 'front\nsay "yes"\nor no' },
  { feature: `${as}: the volume's mode and an item's`, look: 'stat -L -c %a $V/uid $V/name', sees: '644\n400' },
  {
    feature: `${as}: requests and limits of a container, rounded up to the divisor`,
    look: show('cpu-limit', 'cpus', 'cpu-request', 'memory-limit', 'memory-request', 'disk-limit'),
    sees: '1250\n2\n10\n67108864\n32\n1024',
  },
  { feature: `${as}: where no limit is, what the node can give`, look: show('free-cpu', 'free-memory'), sees: /^\d+\n\d{8,}$/ },
];

/** @param limited the container that has `shownResources` @param free one without limits */
export function contentSights(limited: string, free: string): readonly Sight[] {
  const items = podItems(limited, free);
  return [
    ...ofObject('configMap', 'settings', 'blue'),
    ...ofObject('secret', 'keys', 'red'),
    {
      volume: { configMap: { name: 'settings' } },
      rows: [{ feature: 'configMap: binary data', look: 'od -An -tx1 $V/bytes', sees: 'de ca fe 00 ff' }],
    },
    {
      volume: { secret: { secretName: 'keys' } },
      rows: [
        { feature: 'secret: it is in memory', look: 'grep " $V " /proc/mounts | cut -d" " -f3', sees: 'tmpfs' },
        { feature: 'secret: one of the same name in another namespace is another one', look: 'cat $V/colour', sees: 'red' },
      ],
    },
    { volume: { downwardAPI: { items } }, rows: podRows('downwardAPI') },
    { volume: { projected: { sources: [{ downwardAPI: { items } }] } }, rows: podRows('projected downwardAPI') },
    {
      volume: { downwardAPI: { defaultMode: 0o400, items: [field('name', 'metadata.name')] } },
      rows: [{ feature: 'downwardAPI: defaultMode', look: listFiles, sees: '400 name' }],
    },
    {
      volume: {
        projected: {
          sources: [
            { configMap: { name: 'settings' } },
            { secret: { name: 'keys' } },
            { downwardAPI: { items: [field('info/name', 'metadata.name')] } },
            { serviceAccountToken: { path: 'token', audience: 'vault' } },
            { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
          ],
        },
      },
      rows: [
        { feature: 'projected: all sources are in one folder', look: 'ls $V', sees: 'bytes\nca.crt\ncolour\ninfo\npassword\nsize\ntoken' },
        { feature: 'projected: of two sources with the same path the later one counts', look: 'cat $V/colour', sees: 'red' },
        { feature: 'projected: a token is as readable as the rest where users differ', look: 'stat -L -c %a $V/token', sees: '644' },
        { feature: 'projected: it is in memory', look: 'grep " $V " /proc/mounts | cut -d" " -f3', sees: 'tmpfs' },
      ],
    },
  ];
}
