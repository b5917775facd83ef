import { formatQuantity, parseQuantity, type Quantity, quantityOf } from '#api/quantity.ts';
import { InvalidInput } from '#base/errors.ts';
import { duration } from '../configuration/field.ts';
import { defaultEvictionHard, type KubeletConfiguration } from '../configuration/kubelet-configuration.ts';
import type { FilesystemLayout } from '../ports/stats.ts';
import { isSignal, type Signal, signals } from './signals.ts';

/** An amount of its own, or a part of what the signal's resource has in all. */
export type ThresholdValue =
  | { readonly kind: 'amount'; readonly quantity: Quantity }
  /** 0 <= part <= 1 */
  | { readonly kind: 'part'; readonly part: number };

/** When less than the value is left, something has to be done about it. */
export interface Threshold {
  readonly signal: Signal;
  readonly value: ThresholdValue;
  /** So long it has to be so first; 0 (a hard threshold): at once. */
  readonly graceMs: number;
  readonly isHard: boolean;
  /** Once it was met, it counts as met until so much more is left. */
  readonly minReclaim: ThresholdValue | undefined;
}

type EvictionConfiguration = Pick<
  KubeletConfiguration,
  'evictionHard' | 'evictionSoft' | 'evictionSoftGracePeriod' | 'evictionMinimumReclaim' | 'mergeDefaultEvictionSettings' | 'enforceNodeAllocatable'
>;

/** Hard thresholds as they hold: a file that sets any of them sets all, unless it asks to keep the others. */
export function hardSettings({ evictionHard, mergeDefaultEvictionSettings }: EvictionConfiguration): Readonly<Record<string, string>> {
  if (evictionHard === undefined) return defaultEvictionHard;
  return mergeDefaultEvictionSettings ? { ...defaultEvictionHard, ...evictionHard } : evictionHard;
}

/** @throws {InvalidInput} with upstream's message */
export function parseThresholds(configuration: EvictionConfiguration): readonly Threshold[] {
  const reclaims = new Map(Object.entries(configuration.evictionMinimumReclaim).map(([signal, text]) => [known(signal), parseReclaim(signal, text)]));
  const graces = new Map(
    Object.entries(configuration.evictionSoftGracePeriod).map(([signal, text]) => [
      known(signal),
      duration(0).parse(text, `evictionSoftGracePeriod[${signal}]`),
    ]),
  );
  const read = (settings: Readonly<Record<string, string>>, isHard: boolean): readonly Threshold[] =>
    Object.entries(settings).flatMap(([name, text]) => {
      const signal = known(name);
      const value = parseValue(signal, text);
      if (value === undefined) return [];
      const graceMs = isHard ? 0 : graces.get(signal);
      if (graceMs === undefined) throw new InvalidInput({ message: `grace period must be specified for the soft eviction threshold ${signal}` });
      return [{ signal, value, graceMs, isHard, minReclaim: reclaims.get(signal) }];
    });
  const all = [...read(hardSettings(configuration), true), ...read(configuration.evictionSoft, false)].filter(
    ({ signal }) => !isOfContainers(signal),
  );
  const ofPods = all.filter(({ signal, isHard }) => signal === 'memory.available' && isHard);
  const enforced = configuration.enforceNodeAllocatable.includes('pods');
  return [...all, ...(enforced ? ofPods.map((one) => ({ ...one, signal: 'allocatableMemory.available' as const })) : [])];
}

/** What holds for the file system of the containers is what holds for the one that it is. */
export function withContainerFilesystem(thresholds: readonly Threshold[], layout: FilesystemLayout): readonly Threshold[] {
  const from = layout === 'images-apart' ? 'imagefs' : 'nodefs';
  const copies = thresholds.flatMap((threshold): readonly Threshold[] => {
    if (threshold.signal === `${from}.available`) return [{ ...threshold, signal: 'containerfs.available' }];
    return threshold.signal === `${from}.inodesFree` ? [{ ...threshold, signal: 'containerfs.inodesFree' }] : [];
  });
  return [...thresholds, ...copies];
}

/** In the signal's base units. */
export function amountOf(value: ThresholdValue, capacity: number): number {
  return value.kind === 'amount' ? Number(value.quantity.nanos) / 1e9 : Math.trunc(capacity * value.part);
}

/** As messages have it. */
export function printValue(value: ThresholdValue, capacity: number): string {
  return formatQuantity(value.kind === 'amount' ? value.quantity : quantityOf(Math.trunc(amountOf(value, capacity)), 'BinarySI'));
}

function isOfContainers(signal: Signal): boolean {
  return signal.startsWith('containerfs.');
}

function known(signal: string): Signal {
  if (!isSignal(signal)) {
    throw new InvalidInput({ message: `unsupported eviction signal ${signal}`, hint: `one of ${Object.keys(signals).join(', ')}` });
  }
  return signal;
}

function parseValue(signal: string, text: string): ThresholdValue | undefined {
  if (text === '0%' || text === '100%') return undefined;
  if (text.endsWith('%')) {
    const part = parsePercentage(text);
    if (part < 0) throw new InvalidInput({ message: `eviction percentage threshold ${signal} must be >= 0%: ${text}` });
    if (part > 1) throw new InvalidInput({ message: `eviction percentage threshold ${signal} must be <= 100%: ${text}` });
    return { kind: 'part', part };
  }
  const quantity = parseQuantity(text);
  if (quantity.nanos <= 0n) throw new InvalidInput({ message: `eviction threshold ${signal} must be positive: ${text}` });
  return { kind: 'amount', quantity };
}

function parseReclaim(signal: string, text: string): ThresholdValue {
  if (text.endsWith('%')) {
    const part = parsePercentage(text);
    if (part <= 0) throw new InvalidInput({ message: `eviction percentage minimum reclaim ${signal} must be positive: ${text}` });
    return { kind: 'part', part };
  }
  const quantity = parseQuantity(text);
  if (quantity.nanos < 0n) throw new InvalidInput({ message: `negative eviction minimum reclaim specified for ${signal}` });
  return { kind: 'amount', quantity };
}

function parsePercentage(text: string): number {
  const percentage = Number(text.slice(0, -1));
  if (text.length === 1 || !Number.isFinite(percentage)) throw new InvalidInput({ message: `${text} is not a percentage` });
  return percentage / 100;
}
