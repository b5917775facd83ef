import { AggregatorRegistry, collectDefaultMetrics, Registry } from 'prom-client';
import type { Family } from './families.ts';

// Imported when somebody wants to see numbers. The library is named here and not in an `import()`: bundled, that would give its default
// export alone.

/** The families and figures of this process in the text form of Prometheus. */
export function createPrinter(): (families: readonly Family[]) => Promise<string> {
  const ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess });
  return async (families) => {
    const own = families.map((family) => ({
      name: family.name,
      help: family.help,
      type: family.type,
      aggregator: 'sum',
      values: family.samples(),
    }));
    return `${await AggregatorRegistry.aggregate([own]).metrics()}${await ofProcess.metrics()}`;
  };
}
