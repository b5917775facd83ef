import { createHash } from 'node:crypto';
import { type TarEntry, writeTar } from './tar.ts';

/** How containers of an image start. Source: the OCI image specification's configuration. */
export interface ImageConfig {
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly environment: readonly string[];
  readonly workingDir: string;
  /** `uid` or `uid:gid`; empty: root. */
  readonly user: string;
}

export interface ImageContent {
  /** Full reference: `docker.io/library/busybox:latest`. */
  readonly name: string;
  readonly config: ImageConfig;
  readonly files: readonly TarEntry[];
}

interface Blob {
  readonly digest: string;
  readonly bytes: Uint8Array;
}

/** An OCI image layout in one tar archive, which containerd, docker and podman load. @param architecture as Go spells it: `amd64`, `arm64` */
export async function imageArchive(image: ImageContent, architecture: string): Promise<Uint8Array> {
  const layer = blobOf(await writeTar(image.files));
  const config = blobOf(
    json({
      architecture,
      os: 'linux',
      config: {
        User: image.config.user,
        Env: image.config.environment,
        Entrypoint: image.config.entrypoint,
        Cmd: image.config.command,
        WorkingDir: image.config.workingDir,
      },
      rootfs: { type: 'layers', diff_ids: [layer.digest] },
      history: [{ created: '1970-01-01T00:00:00Z', created_by: 'kubernode image build' }],
    }),
  );
  const manifest = blobOf(
    json({
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      config: descriptor('application/vnd.oci.image.config.v1+json', config),
      layers: [descriptor('application/vnd.oci.image.layer.v1.tar', layer)],
    }),
  );
  const index = json({
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [
      {
        ...descriptor('application/vnd.oci.image.manifest.v1+json', manifest),
        platform: { architecture, os: 'linux' },
        annotations: {
          'io.containerd.image.name': image.name,
          'org.opencontainers.image.ref.name': image.name.slice(image.name.lastIndexOf(':') + 1),
        },
      },
    ],
  });
  return await writeTar([
    file('oci-layout', json({ imageLayoutVersion: '1.0.0' })),
    file('index.json', index),
    { kind: 'directory', path: 'blobs', mode: 0o755 },
    { kind: 'directory', path: 'blobs/sha256', mode: 0o755 },
    ...[layer, config, manifest].map((blob) => file(`blobs/sha256/${blob.digest.slice('sha256:'.length)}`, blob.bytes)),
  ]);
}

function blobOf(bytes: Uint8Array): Blob {
  return { digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}`, bytes };
}

function descriptor(mediaType: string, blob: Blob): { readonly mediaType: string; readonly digest: string; readonly size: number } {
  return { mediaType, digest: blob.digest, size: blob.bytes.length };
}

function json(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

function file(path: string, content: Uint8Array): TarEntry {
  return { kind: 'file', path, mode: 0o644, content };
}
