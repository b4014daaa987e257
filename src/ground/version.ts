/** Set by the bundler from package.json; sources run unbundled (tests, tools) know no version. */
declare const COFFER_VERSION: string | undefined;

/** A semantic version: clients of the Vault family parse it. */
export const version: string = typeof COFFER_VERSION === 'string' ? COFFER_VERSION : '0.0.0-dev';
