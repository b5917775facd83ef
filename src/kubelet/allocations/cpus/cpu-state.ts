import { createHash } from 'node:crypto';
import { InvalidInput } from '#base/errors.ts';
import type { FilesPort } from '../../ports/files.ts';
import { cpusOf } from '../../resources/cpu-set.ts';
import { cpuList } from './cpu-list.ts';

/** Which containers have CPUs of their own, by pod uid and container name; as the file keeps it. */
export interface CpuState {
  readonly policyName: 'none' | 'static';
  /** What all others share; '' for the policy none. */
  readonly defaultCpuSet: string;
  readonly entries: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export const noCpuState: CpuState = { policyName: 'none', defaultCpuSet: '', entries: {} };

/** Who has which CPUs, kept in a file so that a restart of the kubelet changes nothing. */
export class CpuStateFile {
  readonly #files: Pick<FilesPort, 'read' | 'write'>;
  readonly #path: string;

  constructor(files: Pick<FilesPort, 'read' | 'write'>, root: string) {
    this.#files = files;
    this.#path = `${root}/cpu_manager_state`;
  }

  /** @throws {InvalidInput} in upstream's words for a file of another policy, or one that is damaged */
  async load(policyName: CpuState['policyName'], signal: AbortSignal): Promise<CpuState | undefined> {
    const bytes = await this.#files.read(this.#path, signal);
    if (bytes === undefined) return undefined;
    const state = this.#parsed(Buffer.from(bytes).toString('utf8'));
    if (state.policyName !== policyName)
      throw this.#unusable(`configured policy "${policyName}" differs from state checkpoint policy "${state.policyName}"`);
    return state;
  }

  async save(state: CpuState, signal: AbortSignal): Promise<void> {
    await this.#files.write(this.#path, JSON.stringify({ ...state, checksum: checksumOf(state) }), 0o600, signal);
  }

  #parsed(text: string): CpuState {
    try {
      const { policyName, defaultCpuSet, entries, checksum } = JSON.parse(text) as CpuState & { readonly checksum: number }; // the sum tells whether it is
      const state = { policyName, defaultCpuSet, entries };
      if (checksum === checksumOf(state)) return state;
    } catch {
      // not JSON: as damaged as one with another sum
    }
    throw this.#unusable('checkpoint is corrupted');
  }

  #unusable(problem: string): InvalidInput {
    const mend = `please drain this node and delete the CPU manager checkpoint file "${this.#path}" before restarting Kubelet`;
    return new InvalidInput({ message: `could not restore state from checkpoint: ${problem}, ${mend}` });
  }
}

/** @throws {InvalidInput} when the machine or the reservation is not what it was when the file was written */
export function checkState(state: CpuState, online: readonly number[], reserved: readonly number[], areReservedShared: boolean): void {
  const shared = cpusOf(state.defaultCpuSet, 'defaultCpuSet');
  const given = Object.values(state.entries).flatMap((containers) => Object.values(containers).flatMap((list) => cpusOf(list, 'entries')));
  const missing = reserved.filter((cpu) => !shared.includes(cpu));
  if (areReservedShared && missing.length > 0) {
    throw new InvalidInput({ message: `not all reserved cpus: "${cpuList(reserved)}" are present in defaultCpuSet: "${state.defaultCpuSet}"` });
  }
  const known = [...new Set([...shared, ...given, ...(areReservedShared ? [] : reserved)])].sort((a, b) => a - b);
  if (cpuList(known) === cpuList(online)) return;
  throw new InvalidInput({ message: `current set of available CPUs "${cpuList(online)}" doesn't match with CPUs in state "${cpuList(known)}"` });
}

function checksumOf(state: CpuState): number {
  return createHash('sha256').update(JSON.stringify(state)).digest().readUInt32BE(0);
}
