import { beforeEach, describe, expect, it } from 'vitest';
import { create } from '../../../src/operations/access/token-create.ts';
import {
  ofToken as capabilities,
  ofAccessor as capabilitiesAccessor,
  ofSelf as capabilitiesSelf,
} from '../../../src/operations/sys/capabilities.ts';
import {
  list,
  listLegacy,
  read,
  readLegacy,
  remove,
  write,
  writeLegacy,
} from '../../../src/operations/sys/policies.ts';
import { auditHash } from '../../../src/operations/sys/server.ts';
import { failureOf } from '../../access/room.ts';
import { ServedCalls } from './served-call.ts';

let calls: ServedCalls;
beforeEach(async () => {
  calls = await ServedCalls.open();
});

const TEXT = 'path "transit/encrypt/a" { capabilities = ["update", "create"] }';

describe('policies over the API', () => {
  it('are written, read, listed and deleted', async () => {
    expect(await calls.outcome(write, { name: 'Orders', policy: TEXT })).toEqual({
      warnings: ['policy name was converted to orders'],
    });
    expect(await calls.outcome(write, { name: 'orders', policy: TEXT })).toEqual({});
    expect(await calls.result(read, { name: 'ORDERS' })).toEqual({ name: 'orders', policy: TEXT });
    expect(await calls.result(list, {})).toEqual({ keys: ['default', 'orders', 'root'] });
    expect(await calls.outcome(remove, { name: 'orders' })).toEqual({});
    expect(await calls.outcome(remove, { name: 'orders' })).toEqual({});
    expect(await failureOf(() => calls.outcome(read, { name: 'orders' }))).toEqual([
      'not-found',
      'no policy named: orders',
    ]);
  });

  it('have their old paths and names beside the new ones', async () => {
    expect(await calls.outcome(writeLegacy, { name: 'orders', rules: TEXT })).toEqual({
      warnings: ["'rules' is deprecated, please use 'policy' instead"],
    });
    expect(await calls.outcome(writeLegacy, { name: 'orders', policy: TEXT })).toEqual({});
    const single = { name: 'orders', rules: TEXT };
    expect(await calls.outcome(readLegacy, { name: 'orders' })).toEqual({ data: single, topLevel: single });
    const all = { keys: ['default', 'orders', 'root'], policies: ['default', 'orders', 'root'] };
    expect(await calls.outcome(listLegacy, {})).toEqual({ data: all, topLevel: all });
    expect(await failureOf(() => calls.outcome(readLegacy, { name: 'x' }))).toEqual([
      'not-found',
      'no policy named: x',
    ]);
  });

  it('are refused without a text', async () => {
    const failure = ['invalid', "'policy' parameter not supplied or empty"];
    expect(await failureOf(() => calls.outcome(write, { name: 'a' }))).toEqual(failure);
    expect(await failureOf(() => calls.outcome(writeLegacy, { name: 'a' }))).toEqual(failure);
  });
});

describe('capabilities', () => {
  let token: { client_token: string; accessor: string };
  beforeEach(async () => {
    await calls.outcome(write, { name: 'orders', policy: TEXT });
    token = await calls.result(create, { policies: ['orders'] });
  });

  it('of oneself on one path come twice, and at the top level', async () => {
    const data = { capabilities: ['create', 'update'], 'transit/encrypt/a': ['create', 'update'] };
    for (const raw of [{ paths: ['transit/encrypt/a'] }, { path: 'transit/encrypt/a' }]) {
      expect(await calls.outcome(capabilitiesSelf, raw, token.client_token)).toEqual({
        data,
        topLevel: data,
      });
    }
  });

  it('on several paths come by path', async () => {
    expect(
      await calls.result(capabilitiesSelf, { paths: 'transit/encrypt/a, other' }, token.client_token),
    ).toEqual({
      'transit/encrypt/a': ['create', 'update'],
      other: ['deny'],
    });
  });

  it('of the owner and of root tokens are root', async () => {
    const root = (await calls.result(create, {})).client_token;
    expect(await calls.result(capabilitiesSelf, { paths: ['a', 'b'] })).toEqual({ a: ['root'], b: ['root'] });
    expect(await calls.result(capabilitiesSelf, { paths: ['a', 'b'] }, root)).toEqual({
      a: ['root'],
      b: ['root'],
    });
  });

  it('of another token are found by it and by its accessor', async () => {
    const expected = { a: ['deny'], 'transit/encrypt/a': ['create', 'update'] };
    const paths = ['a', 'transit/encrypt/a'];
    expect(await calls.result(capabilities, { token: token.client_token, paths })).toEqual(expected);
    expect(await calls.result(capabilitiesAccessor, { accessor: token.accessor, paths })).toEqual(expected);
  });

  it('are refused for no path, no token and an unknown one', async () => {
    const failures = [
      await failureOf(() => calls.outcome(capabilitiesSelf, {}, token.client_token)),
      await failureOf(() => calls.outcome(capabilities, { paths: ['a'] })),
      await failureOf(() => calls.outcome(capabilities, { paths: ['a'], token: 'x' })),
      await failureOf(() => calls.outcome(capabilitiesAccessor, { paths: ['a'] })),
      await failureOf(() => calls.outcome(capabilitiesAccessor, { paths: ['a'], accessor: 'x' })),
    ];
    expect(failures).toEqual([
      ['invalid', 'paths must be supplied'],
      ['invalid', 'no token found'],
      ['invalid', 'invalid token'],
      ['invalid', 'missing accessor'],
      ['invalid', 'invalid accessor'],
    ]);
  });
});

describe('sys/audit-hash', () => {
  it('tells how a value looks in the audit trail', async () => {
    const recorder = await (await calls.core.access()).auditRecorder();
    expect(await calls.result(auditHash, { path: 'file', input: 'x' })).toEqual({ hash: recorder.hash('x') });
  });
});
