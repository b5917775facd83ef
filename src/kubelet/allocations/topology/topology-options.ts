import { InvalidInput } from '#base/errors.ts';
import { mostMemoryNodes } from './align.ts';

export interface TopologyOptions {
  /** More memory nodes than these are too many ways to look at. */
  readonly mostMemoryNodes: number;
  /** Of two sets of equal size the one whose nodes are nearer to each other. */
  readonly prefersClosest: boolean;
}

/** @throws {InvalidInput} in upstream's words */
export function topologyOptions(given: Readonly<Record<string, string>>): TopologyOptions {
  let options: TopologyOptions = { mostMemoryNodes, prefersClosest: false };
  for (const [name, value] of Object.entries(given)) {
    if (name === 'prefer-closest-numa-nodes') options = { ...options, prefersClosest: truth(name, value) };
    else if (name === 'max-allowable-numa-nodes') options = { ...options, mostMemoryNodes: limit(name, value) };
    else
      throw new InvalidInput({
        message: `unknown Topology Manager Policy option: "${name}"`,
        hint: 'prefer-closest-numa-nodes, max-allowable-numa-nodes',
      });
  }
  return options;
}

/** @throws {InvalidInput} when the machine has too many */
export function checkMemoryNodes(count: number, options: TopologyOptions): void {
  if (count <= options.mostMemoryNodes) return;
  throw new InvalidInput({
    message: `unsupported on machines with more than ${options.mostMemoryNodes} NUMA Nodes`,
    hint: 'set topologyManagerPolicyOptions: {max-allowable-numa-nodes: "..."}, or topologyManagerPolicy to "none"',
  });
}

const truths: Readonly<Record<string, boolean>> = {
  ...Object.fromEntries(['1', 't', 'T', 'true', 'TRUE', 'True'].map((word) => [word, true])),
  ...Object.fromEntries(['0', 'f', 'F', 'false', 'FALSE', 'False'].map((word) => [word, false])),
};

function truth(name: string, value: string): boolean {
  const known = truths[value];
  if (known === undefined)
    throw new InvalidInput({ message: `bad value for option "${name}": strconv.ParseBool: parsing "${value}": invalid syntax` });
  return known;
}

function limit(name: string, value: string): number {
  if (!/^[+-]?\d+$/.test(value)) {
    throw new InvalidInput({ message: `unable to convert policy option to integer "${name}": strconv.Atoi: parsing "${value}": invalid syntax` });
  }
  const most = Number(value);
  if (most < mostMemoryNodes) throw new InvalidInput({ message: `the minimum value of "${name}" should not be less than ${mostMemoryNodes}` });
  // Sets are kept in one number, and there are twice as many of them for each node.
  if (most > 16)
    throw new InvalidInput({
      message: `${name}: this version looks at 16 NUMA nodes at most`,
      hint: 'leave memory nodes out, or set topologyManagerPolicy to "none"',
    });
  return most;
}
