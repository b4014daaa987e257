import { mkdirSync, mkdtempSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentDirectory } from '../../src/service/agent/directory.ts';
import { rounds } from '../long.ts';
import { refusal } from '../refusal.ts';

/** What the name of a socket may have, with the final zero, where it is least. */
const SOCKET_BYTES = 104;

let home: string;

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'c-'));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

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
