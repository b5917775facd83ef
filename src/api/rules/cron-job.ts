import { InvalidInput } from '#base/errors.ts';
import { parseCronSchedule } from '../cron-schedule.ts';
import { type FieldProblem, invalid, required } from '../field-problem.ts';
import { isTimeZone, isTimeZoneForm } from '../time-zone.ts';
import type { CronJobSpec } from '../types/batch-v1.ts';
import { validateChoice } from './checks.ts';
import { validateJobTemplate } from './job/job-spec.ts';
import { validateNonNegatives } from './workload.ts';

/** @param previous undefined: the job is new. What it said of time zones before may stay. */
export function validateCronJobSpec(spec: Partial<CronJobSpec>, previous: Partial<CronJobSpec> | undefined, field: string): readonly FieldProblem[] {
  const { startingDeadlineSeconds, concurrencyPolicy, jobTemplate, successfulJobsHistoryLimit, failedJobsHistoryLimit, timeZone } = spec;
  return [
    ...validateSchedule(spec, previous?.schedule?.includes('TZ') === true, `${field}.schedule`),
    ...validateNonNegatives({ startingDeadlineSeconds }, field),
    ...(previous !== undefined && previous.timeZone === timeZone ? [] : validateTimeZone(timeZone, `${field}.timeZone`)),
    ...validateChoice(concurrencyPolicy, ['Allow', 'Forbid', 'Replace'], `${field}.concurrencyPolicy`),
    ...validateJobTemplate(jobTemplate ?? {}, `${field}.jobTemplate`),
    ...validateNonNegatives({ successfulJobsHistoryLimit, failedJobsHistoryLimit }, field),
  ];
}

function validateSchedule({ schedule = '', timeZone }: Partial<CronJobSpec>, hadZone: boolean, field: string): readonly FieldProblem[] {
  if (schedule === '') return [required(field)];
  const problems = scheduleProblems(schedule).map((text) => invalid(field, schedule, text));
  if (!schedule.includes('TZ')) return problems;
  if (!hadZone) return [...problems, invalid(field, schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead')];
  return timeZone === undefined ? problems : [...problems, invalid(field, schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule')];
}

/** A zone in front of the fields was read once, and still is. */
function scheduleProblems(schedule: string): readonly string[] {
  const zone = /^(?:CRON_)?TZ=(\S*)\s/.exec(schedule);
  const name = zone?.[1] ?? '';
  if (zone !== null && name !== '' && !isTimeZone(name)) return [`provided bad location ${name}: unknown time zone ${name}`];
  try {
    parseCronSchedule(schedule.slice(zone?.[0].length ?? 0).trim());
    return [];
  } catch (error) {
    if (error instanceof InvalidInput) return [error.message];
    throw error;
  }
}

function validateTimeZone(name: string | undefined, field: string): readonly FieldProblem[] {
  if (name === undefined) return [];
  if (name === '') return [invalid(field, name, 'timeZone must be nil or non-empty string')];
  if (!isTimeZoneForm(name)) return [invalid(field, name, `unknown time zone ${name}`)];
  if (name.toLowerCase() === 'local') {
    const detail = 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';
    return [invalid(field, name, detail), ...(name === 'Local' ? [] : [invalid(field, name, `unknown time zone ${name}`)])];
  }
  return isTimeZone(name) ? [] : [invalid(field, name, `unknown time zone ${name}`)];
}
