import { genericName } from '../generic-name.ts';

const lower = (name: string): string => name.toLowerCase();

/** The role or user in the path; they are known in lower case. */
export const roleName = (help: string) => ({ ...genericName(help, 'NAME', lower), understoodAs: lower });
