import type { PathEndpoint } from '../request/path-routes.ts';
import type { Family } from './families.ts';

/** `/metrics` in the text form of Prometheus. */
export function metricsEndpoint(families: () => readonly Family[]): PathEndpoint {
  let printer: Promise<(families: readonly Family[]) => Promise<string>> | undefined;
  return {
    matches: (path) => path === '/metrics',
    answer: async () => {
      printer ??= loadPrinter();
      const print = await printer;
      return {
        status: 200,
        headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
        body: Buffer.from(await print(families())),
      };
    },
  };
}

/** The library costs more to load than a request to serve: it waits for somebody who wants to see numbers. */
async function loadPrinter(): Promise<(families: readonly Family[]) => Promise<string>> {
  const { createPrinter } = await import('./print-families.ts');
  return createPrinter();
}
