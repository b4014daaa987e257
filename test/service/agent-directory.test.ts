import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { AgentDirectory } from '../../src/service/agent/directory.ts';
import { rounds } from '../long.ts';
import { thrownBy } from '../reference/thrown.ts';
import { refusal } from '../refusal.ts';

/** What the name of a socket may have, with the final zero, where it is least. */
const SOCKET_BYTES = 104;

let home: string;

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'c-'));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));
afterEach(() => void vi.restoreAllMocks());

function directoryFor(store: string, runtime = home): AgentDirectory {
  const directory = AgentDirectory.of(store, { runtime });
  if (directory === undefined) throw new Error("no directory for the agent's socket");
  return directory;
}

const nameFor = (store: string): string => basename(directoryFor(store).path);

describe('the directory of an agent', () => {
  it('says of which store it is', () => {
    expect(nameFor('/srv/coffer.d/team_one-2')).toBe('-srv-coffer.d-team_5fone_2d2');
  });

  it('has no agent, and no refusal of one, where it cannot be looked for', () => {
    const runtime = join(home, 'runtime');
    mkdirSync(runtime, { mode: 0o700 });
    const directory = directoryFor('/srv/store', runtime);
    rmSync(runtime, { recursive: true });
    // A link to itself fails as a directory does that the user may not search.
    symlinkSync(runtime, runtime);
    const { isInUse, isDeclined } = directory;
    expect({ isInUse, isDeclined }).toEqual({ isInUse: false, isDeclined: false });
  });

  it('that cannot be created says which variable names another place', () => {
    const cache = join(home, 'cache');
    writeFileSync(cache, '');
    expect(thrownBy(() => AgentDirectory.of('/srv/store', { cache })?.make())).toMatchObject({
      kind: 'unavailable',
      message: `cannot create the directory ${join(cache, 'coffer')} of the agent: part of the path is not a directory`,
      hint: 'set XDG_RUNTIME_DIR to a directory that only you can access',
    });
  });

  it('has one name that no other store has, for file systems and units of systemd', () => {
    const path = fc
      .array(
        fc.oneof(
          fc.constantFrom('a', 'A', '-', '_', '_2d', '.b'),
          fc.string({ minLength: 1, maxLength: 30 }),
        ),
        {
          minLength: 1,
          maxLength: 5,
        },
      )
      .map((parts) => `/nowhere/${parts.join('/').replaceAll('\0', '')}`);
    const names = new Map<string, string>();
    fc.assert(
      fc.property(path, (store) => {
        const name = nameFor(store);
        expect(name).toMatch(/^[a-z0-9._-]+$/);
        // Where a file system takes capitals for small letters, too.
        const other = names.get(name.toLowerCase());
        if (other !== undefined) expect(nameFor(join(other, '.'))).toBe(nameFor(join(store, '.')));
        names.set(name.toLowerCase(), store);
      }),
      { numRuns: rounds(2000) },
    );
  });

  it('is refused where its socket would have a longer path than 103 bytes', () => {
    const spare = 103 - Buffer.byteLength(directoryFor('/s'.repeat(300)).socket) - 1;
    const below = (letters: number) => {
      const runtime = join(home, 'q'.repeat(letters));
      mkdirSync(runtime, { mode: 0o700 });
      return directoryFor('/s'.repeat(300), runtime);
    };
    const longest = below(spare);
    expect(Buffer.byteLength(longest.socket)).toBe(103);
    longest.make();
    const tooLong = below(spare + 1);
    expect(refusal(() => tooLong.make())).toMatchObject({
      kind: 'unsupported',
      message: `socket path too long: ${tooLong.socket}`,
    });
  });

  it('remembers for twelve hours that an agent was declined', () => {
    const directory = directoryFor('/declined');
    expect(directory.isDeclined).toBe(false);
    directory.decline();
    expect(directory.isDeclined).toBe(true);
    const said = (hoursAgo: number) => {
      const time = Date.now() / 1000 - hoursAgo * 3600;
      utimesSync(join(directory.path, 'declined'), time, time);
      return directory.isDeclined;
    };
    expect([said(11.9), said(12.1)]).toEqual([true, false]);
  });

  it.each([1, 20, 40])('leaves sockets room below a directory of %i letters more', (length) => {
    const runtime = join(home, 'r'.repeat(length));
    mkdirSync(runtime);
    for (const letters of [1, 10, 20, 30, 40, 50, 60, 500]) {
      const directory = directoryFor(`/${'s'.repeat(letters)}`, runtime);
      expect(directory.doorSocket('pkcs11').length).toBeLessThan(SOCKET_BYTES);
    }
  });
});

describe('where the directory of an agent is', () => {
  /** As a user of another number, whose directory below /run there is not. */
  const asAnother = (): void => void vi.spyOn(process, 'geteuid').mockReturnValue(4_000_000_000);
  const pathFor = (places: Parameters<typeof AgentDirectory.of>[1]) => AgentDirectory.of('/s', places)?.path;

  it('is what is the own one of the user', () => {
    expect(pathFor({ runtime: home, cache: '/cache', home: '/home/ada' })).toBe(join(home, 'coffer', '-s'));
    asAnother();
    expect(pathFor({ runtime: home, cache: '/cache', home: '/home/ada' })).toBe('/cache/coffer/run/-s');
    expect(pathFor({ home: '/home/ada' })).toBe('/home/ada/.cache/coffer/run/-s');
    expect(pathFor({ runtime: join(home, 'none'), cache: '/cache' })).toBe('/cache/coffer/run/-s');
  });

  it('is nowhere without an absolute path, or on a system without users', () => {
    asAnother();
    for (const places of [
      {},
      { cache: 'cache' },
      { cache: '', home: '/home/ada' },
      { home: 'ada' },
      { runtime: '.' },
    ])
      expect(pathFor(places)).toBeUndefined();
    expect(AgentDirectory.ofKeyrings({})).toEqual([]);
    vi.spyOn(process, 'geteuid').mockReturnValue(undefined as never);
    expect(pathFor({ runtime: home, cache: '/cache' })).toBeUndefined();
  });

  it('is below no relative path, though that is a directory of the user', () => {
    expect(pathFor({ runtime: '.', cache: '/cache' })).not.toMatch(/^coffer/);
  });

  it('has those of the keyrings together', () => {
    const runtime = mkdtempSync(join(home, 'k'));
    expect(AgentDirectory.ofKeyrings({ runtime })).toEqual([]);
    for (const id of ['one', 'two']) AgentDirectory.ofKeyring(id, { runtime })?.make();
    const found = AgentDirectory.ofKeyrings({ runtime }).map(({ path }) => path);
    expect(found.sort()).toEqual(['one', 'two'].map((id) => join(runtime, 'coffer', 'keyrings', id)));
  });
});

describe('the directory of an agent is refused', () => {
  function made(): { readonly runtime: string; readonly directory: AgentDirectory } {
    const runtime = mkdtempSync(join(home, 'v'));
    const directory = directoryFor('/s', runtime);
    directory.make();
    return { runtime, directory };
  }
  const refusalOf = (directory: AgentDirectory) => refusal(() => directory.verify());
  const message = (path: string, why: string) => `refusing to use the agent in ${path}: it ${why}`;

  it.each(['710', '701', '740', '704', '720', '702'])('when it has mode %s', (octal) => {
    const mode = Number.parseInt(octal, 8);
    const { runtime, directory } = made();
    for (const path of [directory.path, join(runtime, 'coffer')]) {
      chmodSync(path, mode);
      expect(refusalOf(directory)).toMatchObject({
        kind: 'unavailable',
        message: message(path, 'is open to other users'),
      });
      chmodSync(path, 0o700);
    }
    directory.verify();
  });

  it('when others may write where it is, and not when they may only look there', () => {
    const { runtime, directory } = made();
    chmodSync(runtime, 0o755);
    directory.verify();
    for (const mode of [0o720, 0o702]) {
      chmodSync(runtime, mode);
      expect(refusalOf(directory).message).toBe(message(runtime, 'is open to other users'));
    }
    chmodSync(runtime, 0o700);
  });

  it('when it is a file or a link', () => {
    const { directory } = made();
    const { path } = directory;
    rmSync(path, { recursive: true });
    writeFileSync(path, '');
    expect(refusalOf(directory).message).toBe(message(path, 'is not a directory'));
    rmSync(path);
    symlinkSync(home, path);
    expect(refusalOf(directory).message).toBe(message(path, 'is not a directory'));
  });

  it('when it belongs to somebody else', () => {
    const { runtime } = made();
    const own = process.geteuid?.();
    vi.spyOn(process, 'geteuid').mockReturnValue(4_000_000_000);
    const directory = AgentDirectory.of('/s', { cache: runtime });
    mkdirSync(directory?.path ?? '', { recursive: true, mode: 0o700 });
    expect(refusal(() => directory?.verify()).message).toMatch(
      new RegExp(`belongs to user ${own}, you are user 4000000000$`),
    );
  });
});
