import { describe, expect, it } from 'vitest';
import { login } from '../../../../src/access/methods/approle/login.ts';
import { approleMounts, SECRETS } from '../../../../src/access/methods/approle/mount-type.ts';
import { removeRole, writeRole } from '../../../../src/access/methods/approle/roles.ts';
import {
  destroySecret,
  listSecrets,
  lookUpSecret,
  makeSecret,
  tidySecrets,
} from '../../../../src/access/methods/approle/secret-ids.ts';
import { systemRandom } from '../../../../src/ground/random.ts';
import { collectionOf, Mounts } from '../../../../src/mounts/mounts.ts';
import { failureOf, openRoom } from '../../room.ts';

const SECRET = { meta: {}, cidrs: [], tokenCidrs: [] };
const WRONG = ['invalid', 'invalid role or secret ID'];

async function openMount() {
  const { store, clock, access } = await openRoom();
  const mount = await new Mounts(store, systemRandom, [approleMounts]).add('approle', 'auth/approle');
  const room = { store, clock, random: systemRandom, mount };
  for (const roleId of ['one', 'other']) await writeRole(room, roleId, { settings: {}, token: {}, roleId });
  const logIn = (secretId: string, address = '10.1.2.3') =>
    login(room, access.tokens, { roleId: 'one', secretId, address });
  return { room, clock, access, logIn };
}

describe('a secret ID', () => {
  it('is good for as many logins as it has uses', async () => {
    const { room, logIn } = await openMount();
    const { secretId, secret } = await makeSecret(room, 'one', { ...SECRET, uses: 3, meta: { of: 'ann' } });
    for (const left of [2, 1]) {
      expect((await logIn(secretId)).token.meta).toMatchObject({ of: 'ann' });
      expect(await lookUpSecret(room, 'one', { secretId })).toEqual({ ...secret, uses: left });
    }
    await logIn(secretId);
    expect(await failureOf(() => logIn(secretId))).toEqual(WRONG);
  });

  it('ends to the millisecond, and is neither found nor listed afterwards', async () => {
    const { room, clock, logIn } = await openMount();
    const { secretId, secret } = await makeSecret(room, 'one', { ...SECRET, ttl: 10 });
    const listed = () => listSecrets(room, 'one', {});
    clock.ms += 9_999;
    await logIn(secretId);
    expect(await listed()).toEqual([secret.accessor]);
    clock.ms += 1;
    expect(await failureOf(() => logIn(secretId))).toEqual(WRONG);
    expect(await lookUpSecret(room, 'one', { secretId })).toBeUndefined();
    expect(await listed()).toEqual([]);
  });

  it('that is chosen can be chosen again once it has ended, and its old accessor is gone', async () => {
    const { room, clock } = await openMount();
    const again = () => makeSecret(room, 'one', { ...SECRET, secretId: 'chosen', ttl: 10 });
    const { secret } = await again();
    expect((await failureOf(again))[1]).toContain('SecretID is already registered');
    clock.pass(10);
    const next = (await again()).secret;
    expect(await listSecrets(room, 'one', {})).toEqual([next.accessor]);
    const old = { accessor: secret.accessor };
    expect((await failureOf(() => lookUpSecret(room, 'one', old)))[0]).toBe('not-found');
  });

  it('is listed in pages of accessors, each after the last of the page before', async () => {
    const { room } = await openMount();
    for (let i = 0; i < 5; i++) await makeSecret(room, 'one', SECRET);
    await makeSecret(room, 'other', SECRET);
    const all = await listSecrets(room, 'one', {});
    expect(all).toEqual(all.toSorted());
    expect(all).toHaveLength(5);
    expect(await listSecrets(room, 'one', { limit: 2 })).toEqual(all.slice(0, 2));
    expect(await listSecrets(room, 'one', { after: all[1], limit: 2 })).toEqual(all.slice(2, 4));
    expect(await listSecrets(room, 'one', { after: all[4] })).toEqual([]);
  });

  it('is of one role: no other one finds it, or destroys it by its accessor', async () => {
    const { room, logIn } = await openMount();
    const { secretId, secret } = await makeSecret(room, 'one', SECRET);
    const { accessor } = secret;
    expect(await lookUpSecret(room, 'other', { accessor })).toBeUndefined();
    expect((await failureOf(() => destroySecret(room, 'other', { accessor })))[0]).toBe('denied');
    await destroySecret(room, 'other', { secretId });
    await logIn(secretId);
    await destroySecret(room, 'one', { accessor });
    await destroySecret(room, 'one', { secretId });
    expect(await failureOf(() => logIn(secretId))).toEqual(WRONG);
  });

  it('binds its tokens to its networks, also if the role has none, and to what the role has in common with it', async () => {
    const { room, access, logIn } = await openMount();
    const { secretId } = await makeSecret(room, 'one', { ...SECRET, tokenCidrs: ['10.0.0.0/8'] });
    const isGood = async (address: string) => {
      const { text } = await logIn(secretId);
      return (await access.authenticate(text, undefined, address)) !== undefined;
    };
    expect([await isGood('10.1.2.3'), await isGood('11.1.2.3')]).toEqual([true, false]);
    await writeRole(room, 'one', {
      settings: {},
      token: { token_bound_cidrs: ['10.1.0.0/16', '11.0.0.0/8'] },
    });
    expect([await isGood('10.1.2.3'), await isGood('10.2.2.3'), await isGood('11.1.2.3')]).toEqual([
      true,
      false,
      false,
    ]);
    await writeRole(room, 'one', { settings: {}, token: { token_bound_cidrs: ['11.0.0.0/8'] } });
    expect((await failureOf(() => logIn(secretId)))[1]).toContain('CIDR restrictions on the secret ID');
  });

  it('is tidied once it has ended, or its role is gone or another one by that name', async () => {
    const { room, clock } = await openMount();
    const { secret } = await makeSecret(room, 'one', SECRET);
    await makeSecret(room, 'one', { ...SECRET, ttl: 10 });
    await makeSecret(room, 'other', SECRET);
    const left = async () =>
      (await room.store.read((view) => view.list(collectionOf(room.mount, SECRETS)))).length;
    const before = await left();
    clock.pass(10);
    await tidySecrets(room);
    expect(await listSecrets(room, 'one', {})).toEqual([secret.accessor]);
    expect(before - (await left())).toBe(1);
    await removeRole(room, 'other');
    await tidySecrets(room);
    expect(before - (await left())).toBe(2);
  });
});
