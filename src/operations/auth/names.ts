import { genericName } from '../generic-name.ts';

const lower = (name: string): string => name.toLowerCase();

/** Role or user in the path; names are converted to lower case. */
export const roleName = (help: string) => ({ ...genericName(help, 'NAME', lower), understoodAs: lower });
