import { invalid } from '../ground/errors.ts';
import { type CliParam, declare, type Spec } from './declaration/params.ts';
import { parseText } from './declaration/weak-values.ts';

/** Vault's syntax of a generic name. */
const GENERIC_NAME = /^\w(?:[\w.-]*\w)?$/;

/**
 * Declares a name in the path.
 * @param cli its appearance on the command line
 * @param understood normalizes the name
 */
export const genericName = (
  help: string,
  cli: Pick<CliParam, 'metavar' | 'example' | 'refersTo'>,
  understood: (name: string) => string = (name) => name,
) =>
  declare<string, Spec<string> & { readonly required: true }>(
    { help, required: true, cli: { positional: true, ...cli } },
    { type: 'string', pattern: GENERIC_NAME.source },
    (value, field) => {
      const name = parseText(value, field);
      if (GENERIC_NAME.test(name)) return understood(name);
      throw invalid(`${field} ${JSON.stringify(name)} is not allowed`, { field });
    },
  );
