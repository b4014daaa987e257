/** Where the files of a release will lie. */
import type { Release } from './release.ts';

/** A name that nobody can register (RFC 2606): what is made with it is good for trying out alone. */
const PLACEHOLDER = 'https://example.org/coffer/VERSION';
const VERSION = 'VERSION';

/**
 * Where the files of each version can be fetched, without a slash at its end and with the word VERSION in it: COFFER_RELEASE_URL, or a
 * placeholder.
 * @throws for an address that lets others put their files in place of ours, or that is the same for each version.
 */
export function addressOfReleases(): string {
  const given = process.env['COFFER_RELEASE_URL'] ?? '';
  if (given === '') {
    process.stdout.write(`  with ${PLACEHOLDER} as the address; COFFER_RELEASE_URL says the real one\n`);
    return PLACEHOLDER;
  }
  // What no shell, no Ruby and no JSON has another meaning for.
  if (!/^https:\/\/[\w.:/@%+~-]+$/.test(given) || !given.includes(VERSION)) {
    throw new Error(
      'COFFER_RELEASE_URL is an https address with the word VERSION in it, and without a query',
    );
  }
  return given.replace(/\/+$/, '');
}

/** Of the files of one version. */
export const addressFor = (address: string, { version }: Release): string =>
  address.replaceAll(VERSION, version);

/** What somebody would look at who wants to know whose this is. */
export const homepageOf = (address: string): string => new URL('/', address).href;
