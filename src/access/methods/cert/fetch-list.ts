import { type CofferError, invalid, unavailable } from '../../../ground/errors.ts';
import { ownWords } from '../../../ground/own-words.ts';
import { fetchOutside } from '../../login/fetch-outside.ts';

const TIMEOUT_MS = 10_000;

/**
 * Fetches a URL on behalf of a caller who may write to the mount.
 * @param read parses the response; throws if it is malformed
 * @throws `invalid` for a URL that is not HTTP(S); `unavailable` if fetching fails: the reason is only in the cause,
 * because the caller could explore the server's network with it
 */
export async function fetchList<T>(url: string, mostBytes: number, read: (bytes: Buffer) => T): Promise<T> {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (url === '') throw invalid(ownWords('empty CRL url'), { field: 'url' });
  if (parsed === undefined || !['http:', 'https:'].includes(parsed.protocol)) {
    throw invalid(ownWords('invalid CRL url'), {
      field: 'url',
      hint: 'use a URL that begins with http:// or https://',
    });
  }
  try {
    return read(await fetchOutside(parsed, { withinMs: TIMEOUT_MS, mostBytes }));
  } catch (error) {
    throw failed(url, error);
  }
}

const failed = (url: string, cause: unknown): CofferError =>
  unavailable(`failed to fetch the CRL from ${url}`, {
    field: 'url',
    hint: "check from the server's machine that a CRL is at this URL; link-local addresses are not allowed",
    cause,
  });
