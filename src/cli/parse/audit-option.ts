import { takingFile } from './everywhere.ts';

export const AUDIT_LOG = 'audit-log';
export const auditOption = takingFile(
  AUDIT_LOG,
  'File that gets one JSON line for every request, before it is answered.',
);
