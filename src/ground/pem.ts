import { decodeBase64 } from './base64.ts';
import { attempt } from './errors.ts';

/** Textual encodings (RFC 7468). */

/** Hint about a file without a certificate in PEM: one in DER, or a file with a key. */
export const CERTIFICATE_HINT =
  'use a certificate in PEM, which has the line "-----BEGIN CERTIFICATE-----"; to convert one in DER, run "openssl x509 -inform der -in FILE -out NEW"';

interface PemBlock {
  /** Label after BEGIN: `CERTIFICATE`. */
  readonly label: string;
  readonly bytes: Buffer;
}

const BEGIN = /^-----BEGIN (.+)-----$/;

/**
 * Returns the blocks in a text, in order. Text around them is skipped, because programs that print certificates add
 * explanations; so are blocks without an end, or without base64.
 * @returns also whether anything except white space follows the last block
 */
export function pemBlocks(text: string): {
  readonly blocks: readonly PemBlock[];
  readonly junkAfter: boolean;
} {
  const blocks: PemBlock[] = [];
  let open: { readonly label: string; readonly lines: string[] } | undefined;
  let junkAfter = false;
  for (const line of text.split('\n').map((raw) => raw.trim())) {
    const label = BEGIN.exec(line)?.[1];
    if (open !== undefined && line === `-----END ${open.label}-----`) {
      const bytes = bytesOf(open.lines);
      if (bytes !== undefined) blocks.push({ label: open.label, bytes });
      junkAfter = bytes === undefined;
      open = undefined;
      continue;
    }
    junkAfter ||= line !== '';
    if (label !== undefined) open = { label, lines: [] };
    else open?.lines.push(line);
  }
  return { blocks, junkAfter };
}

const bytesOf = (lines: readonly string[]): Buffer | undefined => attempt(() => decodeBase64(lines.join('')));

const COLUMNS = /.{1,64}/g;

/**
 * Formats a block.
 * @param base64 on one line
 * @returns lines of 64 characters, without a newline at the end
 */
export const printPem = (label: string, base64: string): string =>
  [`-----BEGIN ${label}-----`, ...(base64.match(COLUMNS) ?? []), `-----END ${label}-----`].join('\n');
