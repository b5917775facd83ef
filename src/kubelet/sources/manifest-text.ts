import { AppError, InvalidInput, messageOf } from '#base/errors.ts';

/** A manifest as a value; YAML or JSON. @throws {InvalidInput} */
export async function parseManifest(text: string): Promise<unknown> {
  // Loaded when the first one is read: most nodes have none.
  const { parseYamlText } = await import('#api/schema/yaml-text.ts');
  try {
    return parseYamlText(text).value;
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw new InvalidInput({ message: messageOf(cause), cause });
  }
}
