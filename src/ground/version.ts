/** Set by the bundler from package.json; undefined in unbundled sources (tests, tools). */
declare const COFFER_VERSION: string | undefined;

/** Semantic version. */
export const version: string = typeof COFFER_VERSION === 'string' ? COFFER_VERSION : '0.0.0-dev';

/** Vault release with a matching API: Vault clients use it to decide what they may send. */
const FAMILY_LEVEL = '1.20.0';

/**
 * Version for Vault clients. They compare it with Vault releases, so Coffer's version is in the build metadata, which
 * comparisons ignore; and without dots, at which simple parsers split.
 * @see docs/decisions/0126
 */
export const familyVersion = `${FAMILY_LEVEL}+coffer-${version.replaceAll('.', '-')}`;
