/** Reproducible archives: sorted members, a single timestamp, numeric owners. */
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';

/** Offset of the operating system in gzip's header, and its value for Unix (RFC 1952). */
const GZIP_SYSTEM = 9;
const UNIX = 3;

interface Header {
  readonly name: string;
  readonly type: 'file' | 'directory' | 'symlink';
  readonly mode: number;
  readonly mtime: Date;
  readonly uid: number;
  readonly gid: number;
  readonly linkname?: string;
}

interface Pack extends AsyncIterable<Uint8Array> {
  entry(header: Header, content: Buffer): void;
  finalize(): void;
}

const { pack } = createRequire(import.meta.url)('tar-stream') as { readonly pack: () => Pack };

/** Entry of an archive: a file with its content, a directory, or a link. */
export type Member = (
  | { readonly content: Buffer; readonly executable?: boolean }
  | { readonly directory: number }
  | { readonly link: string }
) & {
  /** User ID and group ID of the entry; default: root. */
  readonly owner?: number;
};

export type Members = Readonly<Record<string, Member>>;

/**
 * Packs an archive.
 * @param epoch timestamp of each member, in seconds since 1970
 */
export async function tar(members: Members, epoch: number): Promise<Buffer> {
  const archive = pack();
  const bytes = buffer(archive);
  for (const name of Object.keys(members).sort()) {
    const member = members[name];
    if (member !== undefined) archive.entry(headerOf(name, member, epoch), contentOf(member));
  }
  archive.finalize();
  return bytes;
}

const contentOf = (member: Member): Buffer => ('content' in member ? member.content : Buffer.alloc(0));

function headerOf(name: string, member: Member, epoch: number): Header {
  const owner = member.owner ?? 0;
  const common = { name, mtime: new Date(epoch * 1000), uid: owner, gid: owner };
  if ('link' in member) return { ...common, type: 'symlink', mode: 0o777, linkname: member.link };
  if ('directory' in member) return { ...common, type: 'directory', mode: member.directory };
  return { ...common, type: 'file', mode: member.executable === true ? 0o755 : 0o644 };
}

/**
 * Compresses as `gzip -n` does: with neither name nor timestamp.
 * @param level compression level of gzip, 1 to 9
 */
export function gzip(bytes: Buffer | string, level = 6): Buffer {
  const packed = gzipSync(bytes, { level });
  packed[GZIP_SYSTEM] = UNIX;
  return packed;
}

/**
 * Returns the files below a directory, without the directories themselves.
 * @param under prefix of the paths in the archive, with a slash at its end
 */
export function membersOf(directory: string, under = ''): Members {
  const paths = readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort();
  return Object.fromEntries(
    paths.flatMap((path): (readonly [string, Member])[] => {
      const file = join(directory, path);
      const stats = lstatSync(file);
      if (stats.isSymbolicLink()) return [[`${under}${path}`, { link: readlinkSync(file) }]];
      if (!stats.isFile()) return [];
      return [[`${under}${path}`, { content: readFileSync(file), executable: (stats.mode & 0o100) !== 0 }]];
    }),
  );
}
