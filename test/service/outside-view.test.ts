import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type CofferError,
  conflict,
  corrupt,
  invalid,
  notFound,
  placed,
  unavailable,
} from '../../src/ground/errors.ts';
import { type Port, Rpc } from '../../src/service/rpc.ts';
import { outsideView } from '../../src/service/served-core.ts';
import { noStore } from '../../src/store/refusals.ts';
import { send, startServer } from '../servers/serving.ts';
import { intoDocuments } from '../store/temporary-store.ts';

const STORE = '/srv/my store';

describe('an error of the store, seen from outside,', () => {
  it.each([
    [
      '/srv/my store/generation-1/documents/ab12 is damaged',
      'generation-1/documents/ab12 is damaged',
      placed`${{ file: '/srv/my store/generation-1/documents/ab12' }} is damaged`,
    ],
    [
      'cannot read /srv/my store: permission denied',
      'cannot read the store: permission denied',
      placed`cannot read ${{ file: '/srv/my store' }}: permission denied`,
    ],
    [
      'cannot open the audit log /var/log/coffer/audit.log: full',
      'cannot open the audit log audit.log: full',
      placed`cannot open the audit log ${{ file: '/var/log/coffer/audit.log' }}: full`,
    ],
    [
      'C:\\Users\\ada\\coffer\\lock is held by another process',
      'lock is held by another process',
      placed`${{ file: 'C:\\Users\\ada\\coffer\\lock' }} is held by another process`,
    ],
    [
      'cannot use postgres://coffer@db.internal,db2:5432/keys: it is busy',
      'cannot use the store: it is busy',
      placed`cannot use ${{ database: 'postgres://coffer@db.internal,db2:5432/keys' }}: it is busy`,
    ],
    [
      'postgres://coffer@db/keys (generation 1, document ab12) is damaged',
      'the store (generation 1, document ab12) is damaged',
      placed`${{ database: 'postgres://coffer@db/keys', part: 'generation 1, document ab12' }} is damaged`,
    ],
    [
      'it fails (Host: db.internal), 3 times',
      'it fails, 3 times',
      placed`it fails${{ inside: ' (Host: db.internal)', outside: '' }}, ${3} times`,
    ],
    [
      'key "orders" has the unknown type x/y/z',
      'key "orders" has the unknown type x/y/z',
      'key "orders" has the unknown type x/y/z',
    ],
    [
      'could not derive enc key, length not correct',
      'could not derive enc key, length not correct',
      'could not derive enc key, length not correct',
    ],
  ])('names no place of the server: %s', (told, seen, message) => {
    for (const error of [corrupt(message), unavailable(message), notFound(message)]) {
      expect(error.message).toBe(told);
      // What the server lacks is not what a caller asked for.
      const isServers = error.kind === 'not-found' && error.where !== undefined;
      const kind = isServers ? 'unavailable' : error.kind;
      expect(outsideView(error, STORE)).toMatchObject({ kind, message: seen });
    }
  });

  it('calls files by their place in a store whose location is relative', () => {
    const error = corrupt(placed`${{ file: 'store/lock' }} is damaged, and so is ${{ file: 'other/lock' }}`);
    expect(outsideView(error, './store').message).toBe('lock is damaged, and so is lock');
  });

  it('calls a store that is not there by no place either', () => {
    const error = noStore({ file: STORE }, 'make one');
    expect(error).toMatchObject({
      kind: 'not-found',
      message: `no store in ${STORE}`,
      where: { file: STORE },
    });
    expect(outsideView(error, STORE)).toMatchObject({
      kind: 'unavailable',
      message: 'the store is missing',
      hint: 'make one',
    });
  });

  it('is the same after it went from one process of a server to another', async () => {
    const listeners: ((message: unknown) => void)[] = [];
    const portOf = (own: 0 | 1): Port => ({
      send: (message) => listeners[1 - own]?.(JSON.parse(JSON.stringify(message))),
      onMessage: (listener) => {
        listeners[own] = listener;
      },
    });
    const near = new Rpc(portOf(0), {});
    new Rpc(portOf(1), {
      async fail() {
        throw conflict(placed`${{ file: '/srv/my store/lock' }} is in the way`, {
          field: 'store',
          hint: placed`delete ${{ file: '/srv/my store/lock' }}`,
        });
      },
    });
    const error = await near.call('fail').catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      kind: 'conflict',
      field: 'store',
      message: '/srv/my store/lock is in the way',
      hint: 'delete /srv/my store/lock',
    });
    expect(outsideView(error as CofferError, STORE)).toMatchObject({
      message: 'lock is in the way',
      hint: undefined,
    });
  });

  it('keeps its kind, its field and a hint that names no place', () => {
    const error = corrupt('it is damaged', { field: 'name', hint: 'run "coffer doctor"' });
    expect(outsideView(error, STORE)).toMatchObject({
      kind: 'corrupt',
      field: 'name',
      hint: 'run "coffer doctor"',
    });
    const local = unavailable('it is open to all', {
      hint: placed`run "chmod go-w ${{ file: '/srv/my store/lock' }}"`,
    });
    expect(outsideView(local, STORE).hint).toBeUndefined();
  });

  it('is what it is when it is about what the caller sent', () => {
    const error = invalid('"/etc/passwd" is no name', { hint: 'not /a/b' });
    expect(outsideView(error, STORE)).toBe(error);
  });
});

describe('a server whose store is damaged', () => {
  it('tells callers what, and its own log also where', async () => {
    const writer = await startServer();
    const { token, directory } = writer;
    await send(writer.address, 'POST', '/v1/transit/keys/orders', { token });
    await intoDocuments(directory);
    const documents = join(directory, 'generation-1', 'documents');
    const before = readdirSync(documents);
    await send(writer.address, 'POST', '/v1/transit/keys/later', { token });
    await intoDocuments(directory);
    // Whoever wrote it still has it in memory.
    const { address, log } = await startServer({ location: directory });
    for (const name of readdirSync(documents).filter((file) => !before.includes(file))) {
      writeFileSync(join(documents, name), 'damaged');
    }
    const headers = { 'x-coffer-details': '1' };
    const reply = await send(address, 'POST', '/v1/transit/encrypt/later', {
      token,
      headers,
      body: { plaintext: 'aGVsbG8=' },
    });
    expect(reply).toMatchObject({ status: 500, json: { coffer: { kind: 'corrupt' } } });
    expect(reply.json.errors[0]).toMatch(/^generation-1\/documents\/[0-9a-f]+ is damaged/);
    expect(reply.text).not.toContain(directory);
    const told = log.map((line) => JSON.parse(line)).filter(({ message }) => message === 'request failed');
    expect(told).toEqual([
      expect.objectContaining({ kind: 'corrupt', reason: expect.stringContaining(`${documents}/`) }),
    ]);
  });
});
