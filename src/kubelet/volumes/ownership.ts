import { AppError } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import type { FilesPort } from '../ports/files.ts';

const SETGID = 0o2000;
const EXECUTE = 0o110;

export interface OwnershipOptions {
  readonly groupId: number;
  /** Containers can only read it. */
  readonly readOnly: boolean;
  readonly logger: Logger;
}

/**
 * Gives a tree to a group (`fsGroup`): what is below a folder first, the root last, so that a walk that was cut off is seen and made again.
 * An entry that cannot be changed is only logged; a folder that cannot be read fails the walk. Source: upstream's rules.
 */
export async function giveToGroup(files: FilesPort, path: string, options: OwnershipOptions, signal: AbortSignal): Promise<void> {
  const facts = await files.stat(path, signal);
  if (facts === undefined) return;
  if (facts.kind === 'directory') {
    for (const { name } of await files.list(path, signal)) await giveToGroup(files, `${path}/${name}`, options, signal);
  }
  try {
    await files.changeOwner(path, -1, options.groupId, signal);
    if (facts.kind === 'symlink') return;
    const readable = options.readOnly ? 0o440 : 0o660;
    const mode = facts.mode | readable | (facts.kind === 'directory' ? SETGID | EXECUTE : 0);
    await files.changeMode(path, mode, signal); // also when it is the same: the change of owner may have cleared setgid
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'CANCELLED') throw error;
    options.logger.warn('an entry of a volume kept its owner', { path, code: error.code, error: error.message });
  }
}
