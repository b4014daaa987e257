import { type CofferError, invalid, unavailable } from '../../../ground/errors.ts';
import { ownWords } from '../../../ground/own-words.ts';
import { fetchOutside } from '../../login/fetch-outside.ts';

const TIMEOUT_MS = 10_000;

/**
 * What lies at an address, for which somebody who may write to the mount asks.
 * @param read makes of it what it should be; fails for what is something else.
 * @throws `invalid` for what is no address of the web; `unavailable` when it can't be had: why, only its cause says, since whoever
 *   asks could look around in the network of the server.
 */
export async function fetchList<T>(url: string, mostBytes: number, read: (bytes: Buffer) => T): Promise<T> {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (url === '') throw invalid(ownWords('empty CRL url'), { field: 'url' });
  if (parsed === undefined || !['http:', 'https:'].includes(parsed.protocol)) {
    throw invalid(ownWords('invalid CRL url'), {
      field: 'url',
      hint: 'give an address that begins with http:// or https://',
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
    hint: 'look from the machine of the server whether a list lies there; link-local addresses are not asked',
    cause,
  });
