import { genericName } from '../generic-name.ts';

/** The token role in the path. */
export const roleName = genericName('Name of the token role.', { metavar: 'ROLE', refersTo: 'token-role' });
