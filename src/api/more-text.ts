/** The first few texts, and how many there are besides: `a,b,c + 2 more...`. */
export function moreText(texts: readonly string[], max: number): string {
  const shown = texts.slice(0, max).join(',');
  return texts.length > max ? `${shown} + ${texts.length - max} more...` : shown;
}
