import { brotliDecompressSync } from 'node:zlib';

/** What upstream says about messages and their fields; '' where nothing is known. */
export interface Descriptions {
  /** @param message such as `core.v1.Pod` */
  ofMessage(message: string): string;
  ofField(message: string, field: string): string;
}

type Described = readonly [text: string, fields: Readonly<Record<string, string>>];

/** A large text, read only when somebody wants it explained. */
export async function loadDescriptions(): Promise<Descriptions> {
  const { packedDescriptions } = await import('../generated/descriptions.ts');
  const texts: Readonly<Record<string, Described>> = JSON.parse(brotliDecompressSync(Buffer.from(packedDescriptions, 'base64')).toString()); // as our generator prints it
  return {
    ofMessage: (message) => texts[message]?.[0] ?? '',
    ofField: (message, field) => texts[message]?.[1][field] ?? '',
  };
}
