import { InvalidInput } from '#base/errors.ts';

export interface CpuOptions {
  /** Only whole cores are given. */
  readonly fullPhysicalCpusOnly: boolean;
  /** The reserved CPUs are not even shared. */
  readonly strictReservation: boolean;
  /** What does not fit on one memory node is spread evenly over some. */
  readonly distributes: boolean;
}

const knownOptions = ['full-pcpus-only', 'strict-cpu-reservation', 'distribute-cpus-across-numa'];

/** @throws {InvalidInput} for an option that nobody would keep */
export function cpuOptions(policy: 'none' | 'static', given: Readonly<Record<string, string>>): CpuOptions {
  for (const [name, value] of Object.entries(given)) {
    if (policy === 'none')
      throw new InvalidInput({
        message: 'None policy: received unsupported options',
        hint: 'set cpuManagerPolicy to "static", or remove cpuManagerPolicyOptions',
      });
    if (!knownOptions.includes(name)) throw new InvalidInput({ message: `unsupported cpumanager option: "${name}"`, hint: knownOptions.join(', ') });
    if (value !== 'true' && value !== 'false') throw new InvalidInput({ message: `bad value for option "${name}": ${JSON.stringify(value)}` });
  }
  const isOn = (name: string) => given[name] === 'true';
  return {
    fullPhysicalCpusOnly: isOn('full-pcpus-only'),
    strictReservation: isOn('strict-cpu-reservation'),
    distributes: isOn('distribute-cpus-across-numa'),
  };
}
