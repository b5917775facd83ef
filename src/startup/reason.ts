/** What a reason means to a person, and to the event that tells of it. */
export interface ReasonDoc {
  /** Reason of the Kubernetes event, upstream's word; `undefined`: no event. */
  readonly event: string | undefined;
  readonly severity: 'Normal' | 'Warning';
  readonly meaning: string;
  /** What to try, as an instruction. */
  readonly mend: string;
}
