import { invalid } from '../ground/errors.ts';

/*
 * SHA-256 manifests in the format of `sha256sum` (GNU coreutils): the sum, two blanks or a blank and a star, and the
 * name. A name with a line break or a backslash is escaped, and its line begins with a backslash.
 */

interface Sum {
  /** 64 hexadecimal digits. */
  readonly sha256: string;
  /** Relative, with slashes, and never outside of the directory. */
  readonly name: string;
}

const LINE = /^(\\?)([0-9a-f]{64}) [ *]([^\n\r]+)$/i;
/** Maximum number of lines: a release has hundreds of files, and a longer list is an attack. */
const MAX_LINES = 100_000;

export function printManifest(sums: readonly Sum[]): string {
  return sums
    .map(({ sha256, name }) => {
      const escaped = name.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r');
      return `${escaped === name ? '' : '\\'}${sha256}  ${escaped}\n`;
    })
    .join('');
}

/**
 * Parses a manifest.
 * @throws `invalid` naming the line, if it is malformed or has a disallowed name
 */
export function parseManifest(text: string): readonly Sum[] {
  const lines = text.replace(/\r?\n$/, '').split(/\r?\n/);
  if (lines.length > MAX_LINES) throw invalid(`the manifest has more than ${MAX_LINES} lines`);
  const taken = new Set<string>();
  return lines.map((line, index) => {
    const [, isEscaped, sha256, escaped] = LINE.exec(line) ?? [];
    const broken = (why: string, hint?: string) => invalid(`manifest line ${index + 1} ${why}`, { hint });
    if (sha256 === undefined || escaped === undefined)
      throw broken('is not in the form of sha256sum: checksum, two spaces, file name');
    const name = isEscaped ? escaped.replaceAll(/\\([\\nr])/g, (_, sign) => UNESCAPED[sign] ?? '') : escaped;
    if (!isInside(name))
      throw broken(
        `may name a file outside of its directory: ${name}`,
        'use names below the directory of the manifest, without ".."',
      );
    if (taken.has(name)) throw broken(`has a duplicate entry ${name}`);
    taken.add(name);
    return { sha256: sha256.toLowerCase(), name };
  });
}

const UNESCAPED: Readonly<Record<string, string>> = { '\\': '\\', n: '\n', r: '\r' };

/** Whether a name stays below the directory, on every system. */
export const isInside = (name: string): boolean =>
  !/^([/\\]|[A-Za-z]:)/.test(name) &&
  !name.includes('\0') &&
  !name.split(/[/\\]/).some((part) => part === '..');
