import { genericName } from '../generic-name.ts';

const named = genericName('Name of the token role.', 'ROLE');

/** The token role in the path. */
export const roleName = { ...named, cli: { ...named.cli, refersTo: 'token-role' as const } };
