import { deepEqual } from '#api/deep-equal.ts';
import { type FieldProblem, invalid, required } from '#api/field-problem.ts';
import { byteLength } from '#api/rules/checks.ts';
import { qualifiedNameProblems } from '#api/rules/names.ts';
import type { Event } from '#api/types/core-v1.ts';

const shortTextMax = 128;
const noteMax = 1_024;

/** What both groups ask of an event. @param reporterField what the group calls who reports it */
export function validateEvent(event: Event, reporterField: 'reportingComponent' | 'reportingController'): readonly FieldProblem[] {
  if (event.eventTime === undefined) return validateNamespaces(event);
  return [...validateCommonNamespace(event), ...validateReport(event, reporterField)];
}

/** What events.k8s.io/v1 asks beyond. Its texts name the fields of the core group, as upstream's do. */
export function validateNewEvent(event: Event): readonly FieldProblem[] {
  const { series, eventTime, type = '', firstTimestamp, lastTimestamp, count = 0, source } = event;
  const unset = (field: string, isUnset: boolean) => (isUnset ? [] : [invalid(field, '', 'needs to be unset')]);
  return [
    ...validateSeries(series),
    ...(eventTime === undefined ? [required('eventTime')] : []),
    ...(type === 'Normal' || type === 'Warning' ? [] : [invalid('type', '', `has invalid value: ${type}`)]),
    ...unset('firstTimestamp', firstTimestamp === undefined),
    ...unset('lastTimestamp', lastTimestamp === undefined),
    ...unset('count', count === 0),
    ...unset('source', (source?.component ?? '') === '' && (source?.host ?? '') === ''),
  ];
}

const fixed = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'type',
  'eventTime',
  'action',
  'related',
  'reportingComponent',
  'reportingInstance',
] as const;

/** Through events.k8s.io/v1 nothing but the series changes. */
export function validateEventUpdate(next: Event, previous: Event): readonly FieldProblem[] {
  const changed = fixed.filter((key) => !deepEqual(next[key] ?? {}, previous[key] ?? {}));
  return [
    ...(deepEqual(next.series, previous.series) ? [] : validateSeries(next.series)),
    ...changed.map((key) => invalid(key === 'reportingComponent' ? 'reportingController' : key, next[key], 'field is immutable')),
  ];
}

/** Events about objects without a namespace are kept in the default one. */
function validateNamespaces({ metadata, involvedObject }: Event): readonly FieldProblem[] {
  const about = involvedObject.namespace ?? '';
  const isWrong = about === '' ? metadata.namespace !== 'default' : about !== metadata.namespace;
  return isWrong ? [foreign(about)] : [];
}

function validateCommonNamespace({ metadata: { namespace }, involvedObject }: Event): readonly FieldProblem[] {
  const about = involvedObject.namespace ?? '';
  return about === '' && namespace !== 'default' && namespace !== 'kube-system' ? [foreign(about)] : [];
}

function foreign(namespace: string): FieldProblem {
  return invalid('involvedObject.namespace', namespace, 'does not match event.namespace');
}

function validateReport(event: Event, reporterField: string): readonly FieldProblem[] {
  const { reportingComponent: reporter = '', reportingInstance, action, reason, message = '' } = event;
  return [
    ...(reporter === '' ? [required(reporterField)] : []),
    ...qualifiedNameProblems(reporter).map((problem) => invalid(reporterField, reporter, problem)),
    ...validateShortText('reportingInstance', reportingInstance),
    ...validateShortText('action', action),
    ...validateShortText('reason', reason),
    ...(byteLength(message) > noteMax ? [tooManyCharacters('message', noteMax)] : []),
  ];
}

function validateShortText(field: string, text = ''): readonly FieldProblem[] {
  if (text === '') return [required(field)];
  return byteLength(text) > shortTextMax ? [tooManyCharacters(field, shortTextMax)] : [];
}

function tooManyCharacters(field: string, max: number): FieldProblem {
  return invalid(field, '', `can have at most ${max} characters`);
}

function validateSeries(series: Event['series']): readonly FieldProblem[] {
  if (series === undefined) return [];
  return [
    ...((series.count ?? 0) < 2 ? [invalid('series.count', '', 'should be at least 2')] : []),
    ...(series.lastObservedTime === undefined ? [required('series.lastObservedTime')] : []),
  ];
}
