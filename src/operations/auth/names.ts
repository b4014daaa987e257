import { invalid } from '../../ground/errors.ts';
import { declare, type Spec } from '../declaration/params.ts';
import { parseText } from '../declaration/weak-values.ts';

/** What the family calls a generic name; roles and users are known by it, in lower case. */
const GENERIC_NAME = /^\w(?:[\w.-]*\w)?$/;

/** The role or user in the path. */
export const roleName = (help: string) => ({
  ...declare<string, Spec<string> & { readonly required: true }>(
    { help, required: true, cli: { positional: true, metavar: 'NAME' } },
    { type: 'string', pattern: GENERIC_NAME.source },
    (value, field) => {
      const name = parseText(value, field);
      if (!GENERIC_NAME.test(name))
        throw invalid(`${field} ${JSON.stringify(name)} is not allowed`, { field });
      return name.toLowerCase();
    },
  ),
  understoodAs: (name: string) => name.toLowerCase(),
});
