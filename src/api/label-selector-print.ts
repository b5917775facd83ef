import type { Labels } from './selector.ts';
import type { LabelSelector } from './types/meta-v1.ts';

/** A `LabelSelector` as the query of a list has it, by key: `app=web,tier in (a,b),!old`; '' for an absent or an empty one. */
export function labelSelectorText(selector: LabelSelector | undefined): string {
  const exact = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => ({ key, text: `${key}=${value}` }));
  const expressions = (selector?.matchExpressions ?? []).map(({ key, operator, values = [] }) => {
    const list = `(${[...values].sort().join(',')})`;
    switch (operator) {
      case 'In':
        return { key, text: `${key} in ${list}` };
      case 'NotIn':
        return { key, text: `${key} notin ${list}` };
      case 'DoesNotExist':
        return { key, text: `!${key}` };
      default:
        return { key, text: key };
    }
  });
  return [...exact, ...expressions]
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ text }) => text)
    .join(',');
}

/** `a=b,c=d`, by key; '' when there are none. */
export function labelsText(labels: Labels): string {
  return labelSelectorText({ matchLabels: labels });
}
