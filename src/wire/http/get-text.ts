import { throwIfAborted } from '#base/abort.ts';
import { messageOf, Unavailable } from '#base/errors.ts';

/** One GET of a text; certificates are checked, redirects are followed. @throws {Unavailable} when there was no answer, {Cancelled} */
export async function getText(
  url: string,
  headers: ReadonlyMap<string, readonly string[]>,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly body: string }> {
  try {
    const pairs = [...headers].flatMap(([name, values]) => values.map((value): [string, string] => [name, value]));
    const answer = await fetch(url, { headers: pairs, signal });
    return { status: answer.status, body: await answer.text() };
  } catch (cause) {
    throwIfAborted(signal);
    throw new Unavailable({
      message: `Get ${JSON.stringify(url)}: ${messageOf(cause instanceof Error && cause.cause !== undefined ? cause.cause : cause)}`,
      cause,
    });
  }
}
