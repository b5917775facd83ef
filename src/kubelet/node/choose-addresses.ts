import { InvalidInput, messageOf, Unavailable } from '#base/errors.ts';
import type { HostFacts } from '../ports/host.ts';

export interface AddressWishes {
  readonly nodeName: string;
  /** Of `--node-ip`: one, or one of each family; `0.0.0.0` and `::` only say which family is preferred. */
  readonly nodeIPs: readonly string[];
}

type Facts = Pick<HostFacts, 'addresses' | 'defaultRouteInterface'>;

/**
 * The node's addresses, the first one being the one that counts: what was asked for, else the name if it is one, else what the name
 * resolves to, else the address of the interface that leads out.
 *
 * @param lookup all addresses of a name, by the host's resolver
 * @throws {InvalidInput} for an address that was asked for and cannot be this node's, {Unavailable} when there is none
 */
export async function chooseNodeAddresses(
  { nodeName, nodeIPs }: AddressWishes,
  facts: Facts,
  lookup: (name: string) => Promise<readonly string[]>,
): Promise<readonly [string, ...string[]]> {
  const asked = nodeIPs.filter((address) => !isUnspecified(address));
  const [first, ...others] = asked;
  if (first !== undefined) {
    for (const address of asked) {
      const problem = problemOf(address, facts);
      if (problem !== undefined)
        throw new InvalidInput({ message: `failed to validate nodeIP: ${problem}`, hint: 'give an address of this host as --node-ip' });
    }
    if (others.length > 1 || others.some((other) => familyOf(other) === familyOf(first))) {
      throw new InvalidInput({
        message: `bad --node-ip ${JSON.stringify(nodeIPs.join(','))}; must contain either a single IP or a dual-stack pair of IPs`,
      });
    }
    return [first, ...others];
  }
  const family = nodeIPs.some((address) => familyOf(address) === 6) ? 6 : 4;
  if (familyOf(nodeName) !== undefined) return [nodeName];
  let failure = '';
  const resolved = await lookup(nodeName).catch((error: unknown) => {
    failure = messageOf(error);
    return [];
  });
  const valid = resolved.filter((address) => problemOf(address, facts) === undefined);
  const outward = facts.addresses.filter((one) => one.interface === facts.defaultRouteInterface).map(({ address }) => address);
  const chosen =
    ofFamilyFirst(valid, family) ??
    ofFamilyFirst(outward, family) ??
    ofFamilyFirst(
      facts.addresses.map(({ address }) => address),
      family,
    );
  if (chosen === undefined)
    throw new Unavailable({ message: `can't get ip address of node ${nodeName}. error: ${failure}`, hint: 'give one as --node-ip' });
  return [chosen];
}

function ofFamilyFirst(addresses: readonly string[], family: 4 | 6): string | undefined {
  return addresses.find((address) => familyOf(address) === family) ?? addresses[0];
}

function problemOf(address: string, { addresses }: Facts): string | undefined {
  if (familyOf(address) === undefined) return 'nodeIP must be valid IP address';
  if (isIn(address, /^127\./, /^::1$/)) return "nodeIP can't be loopback address";
  if (isIn(address, /^2(2[4-9]|3\d)\./, /^ff/i)) return "nodeIP can't be a multicast address";
  if (isIn(address, /^169\.254\./, /^fe[89ab]/i)) return "nodeIP can't be a link-local unicast address";
  if (isUnspecified(address)) return "nodeIP can't be an all zeros address";
  if (!addresses.some((one) => one.address === address)) return `node IP: ${JSON.stringify(address)} not found in the host's network interfaces`;
  return undefined;
}

function isIn(address: string, v4: RegExp, v6: RegExp): boolean {
  return (familyOf(address) === 4 ? v4 : v6).test(address);
}

function isUnspecified(address: string): boolean {
  return address === '0.0.0.0' || address === '::';
}

function familyOf(text: string): 4 | 6 | undefined {
  if (/^(\d{1,3}\.){3}\d{1,3}$/.test(text) && text.split('.').every((part) => Number(part) <= 255)) return 4;
  return /^[0-9a-f:.]*:[0-9a-f:.]*$/i.test(text) && text.includes(':') && text.length >= 2 ? 6 : undefined;
}
