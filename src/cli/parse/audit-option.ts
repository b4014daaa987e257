import { takingFile } from './everywhere.ts';

export const AUDIT_LOG = 'audit-log';
export const auditOption = takingFile(
  AUDIT_LOG,
  'Append one JSON line per request to FILE before answering it.',
);
