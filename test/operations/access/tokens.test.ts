import { beforeEach, describe, expect, it, vi } from 'vitest';
import { create, createOrphan } from '../../../src/operations/access/token-create.ts';
import { list, lookup, lookupAccessor, lookupSelf } from '../../../src/operations/access/token-lookup.ts';
import { renew, renewAccessor, renewSelf } from '../../../src/operations/access/token-renew.ts';
import {
  revoke,
  revokeAccessor,
  revokeOrphan,
  revokeSelf,
} from '../../../src/operations/access/token-revoke.ts';
import { failureOf } from '../../access/room.ts';
import { ServedCalls } from './served-call.ts';

let calls: ServedCalls;
let root: string;
beforeEach(async () => {
  calls = await ServedCalls.open();
  root = (await calls.result(create, {})).client_token;
});

const policy = async (name: string, text: string): Promise<void> => {
  await (await calls.core.access()).policies.write(name, text);
};

const holds = async (token: string): Promise<boolean> =>
  (await (await calls.core.access()).authenticate(token)) !== undefined;

describe('auth/token/create', () => {
  it('answers the auth object of the family, in its order', async () => {
    await policy('app', 'path "a" { capabilities = ["read"] }');
    const outcome = await calls.outcome(
      create,
      { policies: ['App'], meta: { team: 'x' }, display_name: 'ci' },
      root,
    );
    expect(outcome.data).toBeUndefined();
    expect(outcome.warnings).toBeUndefined();
    expect(JSON.stringify(outcome.auth)).toBe(
      `{"client_token":"${outcome.auth?.client_token}","accessor":"${outcome.auth?.accessor}",` +
        '"policies":["app","default"],"token_policies":["app","default"],"metadata":{"team":"x"},' +
        '"lease_duration":2764800,"renewable":true,"entity_id":"","token_type":"service","orphan":false,' +
        '"mfa_requirement":null,"num_uses":0}',
    );
  });

  it('gives the owner a token that may do everything and never expires', async () => {
    const token = await calls.result(create, {});
    expect(token).toMatchObject({ policies: ['root'], lease_duration: 0, renewable: false, orphan: true });
  });

  it('takes durations as text or number, and the old name of ttl', async () => {
    const ttlOf = async (raw: object) =>
      (await calls.result(create, { policies: ['a'], ...raw })).lease_duration;
    expect(await ttlOf({ ttl: '1h30m' })).toBe(5400);
    expect(await ttlOf({ ttl: 60 })).toBe(60);
    expect(await ttlOf({ lease: '2h' })).toBe(7200);
    expect(await ttlOf({ period: '24h' })).toBe(86_400);
  });

  it('warns when a time is cut and a policy is missing', async () => {
    const { warnings } = await calls.outcome(create, { policies: ['gone'], ttl: '8760h' });
    expect(warnings).toEqual([
      'TTL of "8760h" exceeded the effective max_ttl of "768h"; TTL value is capped accordingly',
      'Policy "gone" does not exist',
    ]);
  });

  it.each([
    [{ type: 'batch', num_uses: 1 }, 'batch tokens cannot have "num_uses" set'],
    [{ type: 'recovery' }, "invalid 'token_type' value"],
    [{ entity_alias: 'me' }, "'entity_alias' is only allowed in combination with token role"],
    [{ ttl: '-5s' }, "cannot provide negative value '-5s'"],
  ])('refuses the request %j', async (raw, text) => {
    expect(await failureOf(() => calls.outcome(create, raw, root))).toEqual(['invalid', text]);
  });

  it('measures sudo on its own path', async () => {
    await policy('issuer', 'path "auth/token/create" { capabilities = ["update", "sudo"] }');
    const issuer = (await calls.result(create, { policies: ['issuer'] })).client_token;
    expect((await calls.result(create, { policies: ['other'], period: '1h' }, issuer)).policies).toEqual([
      'default',
      'other',
    ]);
    expect(await failureOf(() => calls.outcome(createOrphan, { policies: ['other'] }, issuer))).toEqual([
      'invalid',
      'child policies must be subset of parent',
    ]);
  });
});

describe('auth/token/create-orphan', () => {
  it('lets the token outlive its creator, without sudo', async () => {
    const creator = (await calls.result(create, { policies: ['app'] })).client_token;
    const orphan = await calls.result(createOrphan, { policies: ['app'] }, creator);
    expect(orphan.orphan).toBe(true);
    await calls.outcome(revokeSelf, {}, creator);
    expect(await holds(orphan.client_token)).toBe(true);
  });
});

describe('auth/token/lookup-self', () => {
  it('tells what the family tells', async () => {
    const token = await calls.result(
      create,
      { policies: ['app'], ttl: '1h', num_uses: 9, explicit_max_ttl: '5h' },
      root,
    );
    calls.clock.pass(100);
    expect(JSON.stringify(await calls.result(lookupSelf, {}, token.client_token))).toBe(
      `{"accessor":"${token.accessor}","creation_time":1767323045,"creation_ttl":3600,"display_name":"token",` +
        '"entity_id":"","expire_time":"2026-01-02T04:04:05Z","explicit_max_ttl":18000,' +
        `"id":"${token.client_token}","issue_time":"2026-01-02T03:04:05.001Z","meta":null,"num_uses":8,"orphan":false,` +
        '"path":"auth/token/create","policies":["app","default"],"renewable":true,"ttl":3500,"type":"service"}',
    );
  });

  it('tells of a root token that it never expires', async () => {
    const details = await calls.result(lookupSelf, {}, root);
    expect(details).toMatchObject({
      expire_time: null,
      ttl: 0,
      creation_ttl: 0,
      orphan: true,
      policies: ['root'],
    });
    expect(details.renewable).toBeUndefined();
  });

  it('works in the request that takes the last use', async () => {
    const { client_token } = await calls.result(create, { policies: ['app'], num_uses: 1 });
    expect((await calls.result(lookupSelf, {}, client_token)).num_uses).toBe(-1);
    expect(await holds(client_token)).toBe(false);
  });

  it('tells period and renewal when there are any', async () => {
    const { client_token } = await calls.result(create, { policies: ['app'], period: '1h' });
    calls.clock.pass(60);
    await calls.outcome(renewSelf, {}, client_token);
    expect(await calls.result(lookupSelf, {}, client_token)).toMatchObject({
      period: 3600,
      last_renewal: '2026-01-02T03:05:05Z',
      last_renewal_time: 1_767_323_105,
      ttl: 3600,
    });
  });

  it('has nothing to tell the owner, who has no token', async () => {
    expect(await failureOf(() => calls.outcome(lookupSelf, {}))).toEqual(['invalid', 'missing token ID']);
  });
});

describe('auth/token/lookup', () => {
  it('finds a token by itself, and the caller when none is given', async () => {
    const token = await calls.result(create, { policies: ['app'] });
    expect(await calls.result(lookup, { token: token.client_token }, root)).toMatchObject({
      id: token.client_token,
      accessor: token.accessor,
    });
    expect((await calls.result(lookup, {}, root)).id).toBe(root);
  });

  it('refuses a bad one', async () => {
    expect(await failureOf(() => calls.outcome(lookup, { token: 'cfr.bad' }, root))).toEqual([
      'denied',
      'bad token',
    ]);
  });

  it('takes an accessor from those alone who may look up by accessor', async () => {
    await policy('looker', 'path "auth/token/lookup" { capabilities = ["update"] }');
    const looker = (await calls.result(create, { policies: ['looker'] })).client_token;
    const { accessor, client_token } = await calls.result(create, { policies: ['app'] });
    expect(await calls.result(lookup, { token: accessor })).toMatchObject({ accessor, id: '' });
    expect(await calls.result(lookup, { token: client_token }, looker)).toMatchObject({ accessor });
    expect(await failureOf(() => calls.outcome(lookup, { token: accessor }, looker))).toEqual([
      'denied',
      'bad token',
    ]);
  });
});

describe('calls by accessor', () => {
  it('never give the token away', async () => {
    const { accessor, client_token } = await calls.result(create, { policies: ['app'] });
    expect((await calls.result(lookupAccessor, { accessor }, root)).id).toBe('');
    expect((await calls.result(renewAccessor, { accessor }, root)).client_token).toBe('');
    expect(await calls.outcome(revokeAccessor, { accessor }, root)).toEqual({});
    expect(await holds(client_token)).toBe(false);
  });

  it('refuse what is missing or unknown', async () => {
    const missing = ['invalid', 'missing accessor'];
    const unknown = ['invalid', 'invalid accessor'];
    expect(await failureOf(() => calls.outcome(lookupAccessor, {}, root))).toEqual(missing);
    expect(await failureOf(() => calls.outcome(renewAccessor, {}, root))).toEqual(missing);
    expect(await failureOf(() => calls.outcome(lookupAccessor, { accessor: 'x' }, root))).toEqual(unknown);
    expect(await failureOf(() => calls.outcome(renewAccessor, { accessor: 'x' }, root))).toEqual(unknown);
    expect(await failureOf(() => calls.outcome(revokeAccessor, {}, root))).toEqual([
      'invalid',
      'missing accessor',
    ]);
    expect(await calls.outcome(revokeAccessor, { accessor: 'x' }, root)).toEqual({
      warnings: ['No token found with this accessor'],
    });
  });
});

describe('renewing', () => {
  it('answers with the token and its new time', async () => {
    const { client_token } = await calls.result(create, { policies: ['app'], ttl: '1h' });
    calls.clock.pass(1800);
    expect(await calls.result(renewSelf, { increment: '10m' }, client_token)).toMatchObject({
      client_token,
      lease_duration: 600,
    });
    expect(await calls.result(renew, { token: client_token }, root)).toMatchObject({
      client_token,
      lease_duration: 3600,
    });
    expect(await calls.result(renew, { token: client_token, increment: '20m' }, root)).toMatchObject({
      client_token,
      lease_duration: 1200,
    });
    const { accessor } = await calls.result(lookupSelf, {}, client_token);
    expect(await calls.result(renewAccessor, { accessor, increment: '5m' }, root)).toMatchObject({
      client_token: '',
      lease_duration: 300,
    });
  });

  it('answers with the time that was granted, however long the commit took', async () => {
    const { client_token } = await calls.result(create, { policies: ['app'], ttl: '1h' });
    let now = calls.clock.now();
    vi.spyOn(calls.clock, 'now').mockImplementation(() => (now += 2000));
    expect(await calls.result(renewSelf, { increment: '10m' }, client_token)).toMatchObject({
      lease_duration: 600,
    });
  });

  it('is refused for root, unknown and missing tokens', async () => {
    expect(await failureOf(() => calls.outcome(renewSelf, {}, root))).toEqual([
      'invalid',
      'lease is not renewable',
    ]);
    expect(await failureOf(() => calls.outcome(renew, { token: 'x' }, root))).toEqual([
      'invalid',
      'token not found',
    ]);
    expect(await failureOf(() => calls.outcome(renew, {}, root))).toEqual(['invalid', 'missing token ID']);
  });
});

describe('revoking', () => {
  it('of a token ends it and what it issued, and of an unknown one says so', async () => {
    const parent = (await calls.result(create, { policies: ['app'] })).client_token;
    const child = (await calls.result(create, { policies: ['app'] }, parent)).client_token;
    expect(await calls.outcome(revoke, { token: parent }, root)).toEqual({});
    expect([await holds(parent), await holds(child)]).toEqual([false, false]);
    expect(await calls.outcome(revoke, { token: parent }, root)).toEqual({
      warnings: ['No token found with this ID'],
    });
    expect(await failureOf(() => calls.outcome(revoke, {}, root))).toEqual(['invalid', 'missing token ID']);
  });

  it('alone needs sudo and leaves what the token issued', async () => {
    const parent = (await calls.result(create, { policies: ['app'] })).client_token;
    const child = (await calls.result(create, { policies: ['app'] }, parent)).client_token;
    expect(await failureOf(() => calls.outcome(revokeOrphan, { token: parent }, child))).toEqual([
      'invalid',
      'root or sudo privileges required to revoke and orphan',
    ]);
    expect(await calls.outcome(revokeOrphan, { token: parent }, root)).toEqual({});
    expect([await holds(parent), await holds(child)]).toEqual([false, true]);
    expect(await failureOf(() => calls.outcome(revokeOrphan, { token: parent }, root))).toEqual([
      'invalid',
      'token to revoke not found',
    ]);
  });
});

describe('the list of tokens', () => {
  it('has accessors, the oldest first, and what each is, but no token', async () => {
    calls.clock.pass(1);
    const token = await calls.result(create, { policies: ['app'], display_name: 'ci', ttl: '1h' }, root);
    const data = await calls.result(list, {});
    expect(data.keys).toHaveLength(2);
    expect(data.keys[1]).toBe(token.accessor);
    expect(data.key_info[token.accessor]).toMatchObject({
      display_name: 'token-ci',
      policies: ['app', 'default'],
    });
    expect(JSON.stringify(data)).not.toContain(token.client_token);
    expect(list.cli?.table?.(data).rows[1]).toEqual([
      token.accessor,
      'token-ci',
      'app, default',
      { time: '2026-01-02T04:04:06Z' },
      'any',
    ]);
  });
});
