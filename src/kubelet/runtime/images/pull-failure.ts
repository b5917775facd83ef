import { RegistryUnavailable, SignatureValidationFailed, withGrpcStatus } from '#wire/cri/errors.ts';
import type { ImageReason } from '../../ports/images.ts';

/** Why a pull failed. */
export interface PullFailure {
  readonly reason: Extract<ImageReason, 'ErrImagePull' | 'RegistryUnavailable' | 'SignatureValidationFailed'>;
  /** What the waiting container says. */
  readonly message: string;
  /** The runtime's own text, of all tries. */
  readonly text: string;
}

/** @param errors one a credential that was tried; of what is said twice once is told */
export function pullFailure(image: string, errors: readonly unknown[]): PullFailure {
  const texts = [...new Set(errors.map(withGrpcStatus))];
  const [only = ''] = texts;
  if (texts.length > 1) {
    const text = `[${texts.join(', ')}]`;
    return { reason: 'ErrImagePull', message: text, text };
  }
  const because = (word: string, what: string) => `image pull failed for ${image} because the ${what}${only.slice(word.length)}`;
  const [error] = errors;
  if (error instanceof RegistryUnavailable) {
    return { reason: 'RegistryUnavailable', message: because('RegistryUnavailable', 'registry is unavailable'), text: only };
  }
  if (error instanceof SignatureValidationFailed) {
    return { reason: 'SignatureValidationFailed', message: because('SignatureValidationFailed', 'signature validation failed'), text: only };
  }
  return { reason: 'ErrImagePull', message: only, text: only };
}
