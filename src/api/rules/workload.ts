import { type FieldProblem, invalid, required } from '../field-problem.ts';
import { labelSelectorMatches } from '../selector.ts';
import type { PodTemplateSpec } from '../types/core-v1.ts';
import type { LabelSelector } from '../types/meta-v1.ts';
import { validateLabelSelector } from './label-selectors.ts';
import { labelProblems } from './names.ts';

/** A number of things, or a part of all of them: `3`, `25%`. */
export type IntOrPercent = number | string | undefined;

export function validateNonNegative(value: number | undefined, field: string): readonly FieldProblem[] {
  return value === undefined || value >= 0 ? [] : [invalid(field, value, 'must be greater than or equal to 0')];
}

/** Several numbers of one object, by the name of their field below `field`. */
export function validateNonNegatives(values: Readonly<Record<string, number | undefined>>, field: string): readonly FieldProblem[] {
  return Object.entries(values).flatMap(([key, value]) => validateNonNegative(value, `${field}.${key}`));
}

/** Some numbers of a status may not be above another one. @param limitText how the other one is called */
export function validateAtMost(
  values: Readonly<Record<string, number | undefined>>,
  limit: number | undefined,
  limitText: string,
  field: string,
): readonly FieldProblem[] {
  return Object.entries(values).flatMap(([key, value = 0]) =>
    value > (limit ?? 0) ? [invalid(`${field}.${key}`, value, `cannot be greater than ${limitText}`)] : [],
  );
}

/** How often a name was taken by something else: it only grows. */
export function validateCollisions(next: number | undefined, previous: number | undefined): readonly FieldProblem[] {
  return (next ?? 0) < (previous ?? 0) ? [invalid('status.collisionCount', next ?? 0, 'cannot be decremented')] : [];
}

export function validateIntOrPercent(value: IntOrPercent, field: string): readonly FieldProblem[] {
  if (typeof value !== 'string') return validateNonNegative(value, field);
  if (isPercent(value)) return [];
  const detail =
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
  return [invalid(field, value, detail)];
}

export function validateAtMostAll(value: IntOrPercent, field: string): readonly FieldProblem[] {
  const isTooMuch = typeof value === 'string' && isPercent(value) && Number.parseInt(value, 10) > 100;
  return isTooMuch ? [invalid(field, value, 'must not be greater than 100%')] : [];
}

/** Whether it stands for nothing at all, counted or in percent. */
export function isNone(value: IntOrPercent): boolean {
  return (typeof value === 'string' ? Number.parseInt(value, 10) || 0 : (value ?? 0)) === 0;
}

/** The selector by which a workload finds its pods. @param what is named in the message about an empty one */
export function validateOwnSelector(selector: LabelSelector | undefined, what: string, field: string): readonly FieldProblem[] {
  if (selector === undefined) return [required(field)];
  const problems = validateLabelSelector(selector, field);
  return isEmptySelector(selector) ? [...problems, invalid(field, selector, `empty selector is invalid for ${what}`)] : problems;
}

/** A workload's pods must be its own: one without a selector has none, an empty selector is a problem of its own. */
export function validateSelected(
  selector: LabelSelector | undefined,
  template: PodTemplateSpec | undefined,
  templateField: string,
): readonly FieldProblem[] {
  const labels = template?.metadata?.labels;
  const isOther = selector === undefined || (!isEmptySelector(selector) && isReadableSelector(selector) && !labelSelectorMatches(selector, labels));
  if (!isOther) return [];
  return [invalid(`${templateField}.metadata.labels`, sorted(labels), '`selector` does not match template `labels`')];
}

/** A name that makes names of pods: it may be longer than a host's name, but that surprises. */
export function podNameWarnings(name: string): readonly string[] {
  const problems = labelProblems(name);
  if (problems.length === 0) return [];
  const advice = 'this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended';
  return [`metadata.name: ${advice}: [${problems.join(' ')}]`];
}

function isPercent(text: string): boolean {
  return /^\d+%$/.test(text);
}

/** Whether it selects at all; what is wrong with it is said where it stands. */
export function isReadableSelector(selector: LabelSelector): boolean {
  return validateLabelSelector(selector, '').length === 0;
}

function isEmptySelector({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean {
  return Object.keys(matchLabels).length + matchExpressions.length === 0;
}

function sorted(labels: Readonly<Record<string, string>> | undefined): Readonly<Record<string, string>> | undefined {
  return labels === undefined ? undefined : Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
}
