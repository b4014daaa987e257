import { invalid } from '../../ground/errors.ts';
import { declare, type Spec } from '../declaration/params.ts';
import { parseText } from '../declaration/weak-values.ts';

/** What the family calls a generic name. */
const NAME = /^\w(?:[\w.-]*\w)?$/;

/** The token role in the path. */
export const roleName = declare<string, Spec<string> & { readonly required: true }>(
  { help: 'The token role.', required: true, cli: { positional: true, metavar: 'ROLE' } },
  { type: 'string', pattern: NAME.source },
  (value, field) => {
    const name = parseText(value, field);
    if (!NAME.test(name)) throw invalid(`${field} ${JSON.stringify(name)} is not allowed`, { field });
    return name;
  },
);
