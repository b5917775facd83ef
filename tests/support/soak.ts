/** `npm run test:soak`: the same tests with larger numbers. */
export const isSoak = process.env['KUBERNODE_SOAK'] !== undefined;
