/** The lines of a stream, whole whatever the borders of its chunks are; empty ones are left out. */
export async function* lines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder(); // keeps the first half of a character that a border cuts
  let pieces: string[] = []; // of a line that has not ended: joined once, so that a long line costs no more than its length
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true });
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      pieces.push(text.slice(start, end));
      const line = pieces.join('');
      pieces = [];
      start = end + 1;
      if (line.trim() !== '') yield line;
    }
    if (start < text.length) pieces.push(text.slice(start));
  }
  const rest = pieces.join('') + decoder.decode();
  if (rest.trim() !== '') yield rest;
}

/** A stream's whole text. */
export async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of chunks) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}
