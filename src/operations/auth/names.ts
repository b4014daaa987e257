import { genericName } from '../generic-name.ts';

const lower = (name: string): string => name.toLowerCase();

/**
 * Role or user in the path; names are converted to lower case.
 * @param what its kind in words, e.g. `role`
 * @param example name in generated examples
 */
export const roleName = (what: string, example: string) => ({
  ...genericName(`Name of the ${what}; converted to lower case.`, { metavar: 'NAME', example }, lower),
  understoodAs: lower,
});
