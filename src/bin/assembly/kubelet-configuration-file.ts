import { parse } from 'yaml';
import { InvalidInput, messageOf } from '#base/errors.ts';
import { parseKubeletConfiguration } from '#kubelet/configuration/kubelet-configuration.ts';

/**
 * Reads a `KubeletConfiguration`, YAML or JSON; empty text is one without fields.
 *
 * @returns its fields as they are written @throws {InvalidInput}
 */
export function readKubeletConfiguration(text: string, path: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = parse(text);
  } catch (cause) {
    throw new InvalidInput({ message: `${path} is not YAML: ${messageOf(cause)}`, hint: 'give a KubeletConfiguration in YAML or JSON', cause });
  }
  if (value === null || value === undefined) return {};
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new InvalidInput({ message: `${path} is not an object`, hint: 'give a KubeletConfiguration' });
  }
  const given = { ...value };
  parseKubeletConfiguration(given, path);
  return given;
}
