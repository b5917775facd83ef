import { parse } from 'yaml';
import { InvalidInput, messageOf } from '#base/errors.ts';
import { checkConfigurationPart, parseKubeletConfiguration } from '#kubelet/configuration/kubelet-configuration.ts';

/**
 * Reads a `KubeletConfiguration`, YAML or JSON; empty text is one without fields.
 *
 * @param extent a part is laid over others, and is checked with them
 * @returns its fields as they are written @throws {InvalidInput}
 */
export function readKubeletConfiguration(text: string, path: string, extent: 'whole' | 'part'): Readonly<Record<string, unknown>> {
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
  if (extent === 'whole') parseKubeletConfiguration(given, path);
  else checkConfigurationPart(given, path);
  return given;
}
