import type { KindHandler } from '../request/context.ts';
import type { Verb } from '../request/request-info.ts';
import { getComponentStatus, listComponentStatuses } from './component-statuses.ts';
import { createBinding } from './create-binding.ts';

/** Kinds of the core group that are asked for or sent, and never stored, by their plural. */
export const unstoredHandlers: Readonly<Record<string, Readonly<Partial<Record<Verb, KindHandler>>>>> = {
  bindings: { create: createBinding },
  componentstatuses: { get: getComponentStatus, list: listComponentStatuses },
};
