import { takingFile } from './everywhere.ts';

export const AUDIT_LOG = 'audit-log';
export const auditOption = takingFile(
  AUDIT_LOG,
  'Log all requests: append a JSON line to FILE before answering each.',
);
