/** Location of the files of a release. */
import type { Release } from './release.ts';

/** Placeholder with a reserved domain name (RFC 2606); files made with it are only good for trials. */
const PLACEHOLDER = 'https://example.org/coffer/VERSION';
const VERSION = 'VERSION';

/**
 * Returns the URL of the files of each version, without a slash at its end and with the word VERSION in it:
 * COFFER_RELEASE_URL, or a placeholder.
 * @throws for a URL where others could replace the files, or that is the same for each version
 */
export function addressOfReleases(): string {
  const given = process.env['COFFER_RELEASE_URL'] ?? '';
  if (given === '') {
    process.stdout.write(`  with ${PLACEHOLDER} as the address; COFFER_RELEASE_URL says the real one\n`);
    return PLACEHOLDER;
  }
  // Only characters without a special meaning in shells, Ruby and JSON.
  if (!/^https:\/\/[\w.:/@%+~-]+$/.test(given) || !given.includes(VERSION)) {
    throw new Error(
      'COFFER_RELEASE_URL is an https address with the word VERSION in it, and without a query',
    );
  }
  return given.replace(/\/+$/, '');
}

/** Returns the URL of the files of one version. */
export const addressFor = (address: string, { version }: Release): string =>
  address.replaceAll(VERSION, version);

/** Returns the homepage of the project. */
export const homepageOf = (address: string): string => new URL('/', address).href;
