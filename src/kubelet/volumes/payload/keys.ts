import type { KeyToPath } from '#api/types/core-v1.ts';
import type { ObjectRefKey } from '../../ports/objects.ts';
import type { Payload, PayloadFile } from '../atomic-writer.ts';
import { VolumeSetUpFailed } from '../volume-plugin.ts';

export interface KeySelection {
  /** Absent: every key under its own name. */
  readonly items?: readonly KeyToPath[] | undefined;
  readonly defaultMode: number;
  readonly optional: boolean;
}

export interface KeyedObject {
  /** As the message about a missing key says it: `configmap references non-existent config key`. */
  readonly missingKey: string;
  readonly ref: ObjectRefKey;
  readonly entries: ReadonlyMap<string, Uint8Array | string>;
}

/** Files of a ConfigMap or Secret. @throws {VolumeSetUpFailed} for a key that is named, not there, and not optional */
export function keysPayload(object: KeyedObject, { items, defaultMode, optional }: KeySelection): Payload {
  if (items === undefined || items.length === 0) {
    return new Map([...object.entries].map(([key, content]): [string, PayloadFile] => [key, { content, mode: defaultMode }]));
  }
  return new Map(
    items.flatMap(({ key, path, mode }): [string, PayloadFile][] => {
      const content = object.entries.get(key);
      if (content !== undefined) return [[path, { content, mode: mode ?? defaultMode }]];
      if (optional) return [];
      throw new VolumeSetUpFailed({ message: `${object.missingKey}: ${key}`, wakeOn: [object.ref], hint: `add the key ${key}` });
    }),
  );
}
