import { ageColumn, column, nameColumn } from '#api/column.ts';
import { changePart } from '#api/copy-on-write.ts';
import { type FieldProblem, forbidden, invalid, required, tooLong } from '#api/field-problem.ts';
import { defineKind } from '#api/kind.ts';
import { byteLength } from '#api/rules/checks.ts';
import { validateImmutable } from '#api/rules/immutable.ts';
import { subdomainProblems } from '#api/rules/names.ts';
import { validateDriverName } from '#api/rules/storage/names.ts';
import { validateInlineVolume } from '#api/rules/storage/persistent-volume.ts';
import { defaultPersistentVolumeSpec } from '#api/storage/default-persistent-volume.ts';
import type { VolumeAttachment, VolumeAttachmentSource, VolumeError } from '#api/types/storage-v1.ts';

const metadataMaxBytes = 256 * 1024;
const messageMaxBytes = 1_024;

export const volumeAttachment = defineKind<VolumeAttachment>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'VolumeAttachment',
  plural: 'volumeattachments',
  scope: 'Cluster',
  message: 'storage.v1.VolumeAttachment',
  subresources: ['status'],
  allowsUnconditionalUpdate: false,
  answersDeleteWithObject: true,
  columns: [
    nameColumn,
    column('Attacher', { format: 'name', description: 'The driver that attaches the volume.', cell: ({ spec }) => spec.attacher }),
    column('PV', { description: 'The volume.', cell: ({ spec }) => spec.source.persistentVolumeName ?? '' }),
    column('Node', { description: 'The node that it is attached to.', cell: ({ spec }) => spec.nodeName }),
    column('Attached', { type: 'boolean', description: 'Whether it is attached.', cell: ({ status }) => status?.attached ?? false }),
    ageColumn,
  ],
  setDefaults: (attachment) =>
    changePart(attachment, 'spec', (spec) =>
      changePart(spec, 'source', (source) => changePart(source, 'inlineVolumeSpec', defaultPersistentVolumeSpec)),
    ),
  prepareCreate: (attachment) => ({ ...attachment, status: { attached: false } }),
  validate: validateAttachment,
  validateCreate: ({ spec }) => {
    const volume = spec?.source?.persistentVolumeName;
    return [
      ...validateDriverName(spec?.attacher ?? '', 'spec.attacher'),
      ...(volume === undefined ? [] : subdomainProblems(volume).map((text) => invalid('spec.source.persistentVolumeName', volume, text))),
    ];
  },
  validateUpdate: (next, previous) => validateImmutable(next.spec, previous.spec, 'spec'),
  validateStatusUpdate: validateAttachment,
});

function validateAttachment({ spec, status }: VolumeAttachment): readonly FieldProblem[] {
  const { attacher = '', nodeName = '', source = {} } = spec ?? {};
  const metadata = Object.entries(status?.attachmentMetadata ?? {});
  const bytes = metadata.reduce((sum, [key, value]) => sum + byteLength(key) + byteLength(value), 0);
  return [
    ...(attacher === '' ? [required('spec.attacher')] : []),
    ...validateSource(source, 'spec.source'),
    ...subdomainProblems(nodeName).map((text) => invalid('spec.nodeName', nodeName, text)),
    ...(bytes > metadataMaxBytes ? [tooLong('status.attachmentMetadata', metadataMaxBytes)] : []),
    ...validateError(status?.attachError, 'status.attachError'),
    ...validateError(status?.detachError, 'status.detachError'),
  ];
}

function validateSource({ persistentVolumeName: name, inlineVolumeSpec: inline }: VolumeAttachmentSource, field: string): readonly FieldProblem[] {
  const detail = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
  if (inline !== undefined) return name === undefined ? validateInlineVolume(inline, `${field}.inlineVolumeSpec`) : [forbidden(field, detail)];
  if (name === undefined) return [required(field, detail)];
  return name === '' ? [required(`${field}.persistentVolumeName`, 'must specify non empty persistentVolumeName')] : [];
}

function validateError(error: VolumeError | undefined, field: string): readonly FieldProblem[] {
  const { message = '', errorCode = 0 } = error ?? {};
  return [
    // Upstream names the other limit here.
    ...(byteLength(message) > messageMaxBytes ? [tooLong(`${field}.message`, metadataMaxBytes)] : []),
    ...(errorCode < 0 ? [invalid(`${field}.errorCode`, errorCode, 'must be between 0 and 2147483647, inclusive')] : []),
  ];
}
