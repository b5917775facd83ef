/** A name without tag or digest means the tag `latest`. */
export function withTag(image: string): string {
  const lastPart = image.slice(image.lastIndexOf('/') + 1);
  return lastPart.includes(':') || image.includes('@') ? image : `${image}:latest`;
}
