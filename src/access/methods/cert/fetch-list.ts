import { type CofferError, invalid, unavailable } from '../../../ground/errors.ts';
import { keepOwnAuthorities } from '../../../ground/tls-trust.ts';

const TIMEOUT_MS = 10_000;

/**
 * What lies at an address, for which somebody who may write to the mount asks.
 * @throws `invalid` for what is no address of the web; `unavailable` when it can't be had, or is longer than it may be.
 */
export async function fetchList(url: string, mostBytes: number): Promise<Buffer> {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (url === '') throw invalid('empty CRL url', { field: 'url' });
  if (parsed === undefined || !['http:', 'https:'].includes(parsed.protocol)) {
    throw invalid('invalid CRL url', {
      field: 'url',
      hint: 'give an address that begins with http:// or https://',
    });
  }
  keepOwnAuthorities();
  try {
    // A redirection may lead to where nobody meant to ask.
    const answer = await fetch(parsed, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (answer.status !== 200 || answer.body === null) throw new Error(`the answer was ${answer.status}`);
    const pieces: Uint8Array[] = [];
    let length = 0;
    for await (const piece of answer.body) {
      length += piece.length;
      if (length > mostBytes) throw new Error('it is too long');
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  } catch (error) {
    throw failed(url, error);
  }
}

function failed(url: string, error: unknown): CofferError {
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  const why = cause instanceof Error ? cause.message : message;
  return unavailable(`failed to fetch the CRL from ${url}: ${why}`, { field: 'url', cause: error });
}
