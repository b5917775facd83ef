import { forbidden } from '#api/status.ts';
import { type AdmissionRequest, shownName } from '../admission.ts';

/** @throws always: a 403 `StatusError` */
export function refuse(request: AdmissionRequest, detail: string): never {
  throw forbidden(request.kind, shownName(request), detail);
}
