import type { AliasPlace, SecretFile } from '../../secret-files/format.ts';
import type { Session } from '../session.ts';
import type { ReadFile } from './secret-file.ts';

/* YAML aliases of readable values: they are not followed, and whoever misses their values is told. */

/** Maximum number of names in a message. */
const MOST_NAMES = 6;

/** Key that some parsers of YAML replace by the members of the aliased map. */
const MERGE_KEY = '<<';

/** Warns that values of aliases are left out. */
export function warnOfAliases(session: Session, { path, file }: Pick<ReadFile, 'path' | 'file'>): void {
  const left = namesOfAliases(file);
  if (left === undefined) return;
  session.warn(
    `${path}: YAML aliases are not followed, so their values are left out: ${left} (write the values in their place)`,
  );
}

/** Returns the names of the aliases of a file, in the order of the text; undefined if there are none. */
export function namesOfAliases({ aliases = [] }: Pick<SecretFile, 'aliases'>): string | undefined {
  if (aliases.length === 0) return undefined;
  const more = aliases.length - MOST_NAMES;
  const some = aliases.slice(0, MOST_NAMES).map(({ name }) => name);
  return `${some.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Returns the hint for a missing name that is an alias, or below one. */
export const aliasHint = ({ aliases = [] }: SecretFile, name: string): string | undefined =>
  hintOf(aliases.find((alias) => isAtOrBelow(name, alias.name)));

/** Returns the hint for a missing name below a map with a merge key, which may have it by an alias. */
export const mergeHint = ({ aliases = [] }: SecretFile, name: string): string | undefined =>
  hintOf(
    aliases.find((alias) => {
      const [parent] = /^(.*\.|\d+#|)<<(?:\.|$)/.exec(alias.name)?.slice(1) ?? [];
      return alias.path.includes(MERGE_KEY) && parent !== undefined && name.startsWith(parent);
    }),
  );

const isAtOrBelow = (name: string, above: string): boolean => name === above || name.startsWith(`${above}.`);

const hintOf = (alias: AliasPlace | undefined): string | undefined =>
  alias && `${alias.name} is a YAML alias, which is not followed: write the values in its place`;
