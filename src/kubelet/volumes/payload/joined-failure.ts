import { VolumeSetUpFailed } from '../volume-plugin.ts';

/** Several failures as one, in upstream's form: the text alone, or `[a, b]`. @param failures at least one */
export function joinedFailure(failures: readonly VolumeSetUpFailed[]): VolumeSetUpFailed {
  const texts = [...new Set(failures.map(({ message }) => message))];
  const message = texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`;
  return new VolumeSetUpFailed({ message, wakeOn: failures.flatMap(({ wakeOn }) => wakeOn), hint: failures[0]?.hint, cause: failures[0] });
}
