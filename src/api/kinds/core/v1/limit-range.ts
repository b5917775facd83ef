import { changeItems, changePart } from '#api/copy-on-write.ts';
import { defineKind } from '#api/kind.ts';
import { validateLimits } from '#api/rules/quota/limit-range.ts';
import type { LimitRange, LimitRangeItem } from '#api/types/core-v1.ts';

export const limitRange = defineKind<LimitRange>({
  group: '',
  version: 'v1',
  kind: 'LimitRange',
  plural: 'limitranges',
  scope: 'Namespaced',
  message: 'core.v1.LimitRange',
  shortNames: ['limits'],
  createsOnUpdate: true,
  setDefaults: (range) => changePart(range, 'spec', (spec) => changePart(spec, 'limits', (limits) => changeItems(limits, defaultItem))),
  validate: ({ spec }) => validateLimits(spec?.limits ?? [], 'spec.limits'),
});

/** A container that says nothing gets the most that it may have; of requests the least, unless there is a limit. */
function defaultItem(item: LimitRangeItem): LimitRangeItem {
  if (item.type !== 'Container') return item;
  const limits = { ...item.max, ...item.default };
  const requests = { ...item.min, ...limits, ...item.defaultRequest };
  const isChanged =
    Object.keys(limits).length !== Object.keys(item.default ?? {}).length ||
    Object.keys(requests).length !== Object.keys(item.defaultRequest ?? {}).length;
  if (!isChanged) return item;
  return {
    ...item,
    ...(Object.keys(limits).length === 0 ? {} : { default: limits }),
    ...(Object.keys(requests).length === 0 ? {} : { defaultRequest: requests }),
  };
}
