/**
 * `$(NAME)` becomes the value of NAME; what `lookup` does not know stays as it is; `$$` is a `$`.
 */
export function expand(text: string, lookup: (name: string) => string | undefined): string {
  return text.replace(/\$\$|\$\(([^)]*)\)/g, (found, name: string | undefined) => (name === undefined ? '$' : (lookup(name) ?? found)));
}
