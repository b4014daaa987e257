/** Set by the bundler from package.json; sources run unbundled (tests, tools) know no version. */
declare const COFFER_VERSION: string | undefined;

/** A semantic version. */
export const version: string = typeof COFFER_VERSION === 'string' ? COFFER_VERSION : '0.0.0-dev';

/** The release of Vault whose API ours matches: by it clients of the family decide what they may send. */
const FAMILY_LEVEL = '1.20.0';

/**
 * What clients of the Vault family are told. They compare it with releases of Vault, so ours stands where a semantic version
 * has what no comparison looks at; and without dots, at which simple parsers cut. @see docs/decisions/0126
 */
export const familyVersion = `${FAMILY_LEVEL}+coffer-${version.replaceAll('.', '-')}`;
