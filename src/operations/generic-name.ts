import { invalid } from '../ground/errors.ts';
import { declare, type Spec } from './declaration/params.ts';
import { parseText } from './declaration/weak-values.ts';

/** Vault's syntax of a generic name. */
const GENERIC_NAME = /^\w(?:[\w.-]*\w)?$/;

/**
 * Declares a name in the path.
 * @param metavar placeholder on the command line
 * @param understood normalizes the name
 */
export const genericName = (
  help: string,
  metavar: string,
  understood: (name: string) => string = (name) => name,
) =>
  declare<string, Spec<string> & { readonly required: true }>(
    { help, required: true, cli: { positional: true, metavar } },
    { type: 'string', pattern: GENERIC_NAME.source },
    (value, field) => {
      const name = parseText(value, field);
      if (GENERIC_NAME.test(name)) return understood(name);
      throw invalid(`${field} ${JSON.stringify(name)} is not allowed`, { field });
    },
  );
