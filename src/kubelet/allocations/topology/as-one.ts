import { quantityToMilli, quantityToNumber } from '#api/quantity.ts';
import type { Container, Pod } from '#api/types/core-v1.ts';
import { exclusiveCpus } from '../cpus/static-cpus.ts';

/**
 * All that the pod's containers need at one time, as if one container asked for it: those beside each other added up, ordinary init
 * containers one after the other. Of CPUs only those count that a container would have alone.
 */
export function asOneContainer(pod: Pod): Container {
  const { initContainers = [], containers = [] } = pod.spec ?? {};
  let beside: Amounts = new Map();
  let most: Amounts = new Map();
  for (const init of initContainers) {
    const amounts = amountsOf(pod, init);
    if (init.restartPolicy === 'Always') beside = added(beside, amounts);
    most = widest(most, init.restartPolicy === 'Always' ? beside : added(beside, amounts));
  }
  const running = containers.map((container) => amountsOf(pod, container)).reduce(added, beside);
  const limits = Object.fromEntries([...widest(most, running)].map(([name, milli]) => [name, `${milli}m`]));
  return { name: '', resources: { limits, requests: limits } };
}

/** In thousandths. */
type Amounts = ReadonlyMap<string, number>;

function amountsOf(pod: Pod, container: Container): Amounts {
  const { limits = {}, requests = {} } = container.resources ?? {};
  const amounts = Object.entries({ ...limits, ...requests }).map(([name, text]): [string, number] => [
    name,
    name === 'cpu' ? quantityToMilli(text) : quantityToNumber(text) * 1000,
  ]);
  return new Map([...amounts.filter(([name]) => name !== 'cpu'), ['cpu', exclusiveCpus(pod, container) * 1000]]);
}

function combined(a: Amounts, b: Amounts, combine: (x: number, y: number) => number): Amounts {
  return new Map([...new Set([...a.keys(), ...b.keys()])].map((name) => [name, combine(a.get(name) ?? 0, b.get(name) ?? 0)]));
}

const added = (a: Amounts, b: Amounts) => combined(a, b, (x, y) => x + y);
const widest = (a: Amounts, b: Amounts) => combined(a, b, Math.max);
