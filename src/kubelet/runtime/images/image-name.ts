/** A name without tag or digest means the tag `latest`. */
export function withTag(image: string): string {
  const lastPart = image.slice(image.lastIndexOf('/') + 1);
  return lastPart.includes(':') || image.includes('@') ? image : `${image}:latest`;
}

/** What the API server would have put there. */
export function defaultPullPolicy(image: string): 'Always' | 'IfNotPresent' {
  return image.includes('@') || !withTag(image).endsWith(':latest') ? 'IfNotPresent' : 'Always';
}
