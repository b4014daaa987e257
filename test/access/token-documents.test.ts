import { describe, expect, it } from 'vitest';
import { issuedMs, type Token } from '../../src/access/token.ts';
import { putToken, replaceToken, TOKENS, tokenAt } from '../../src/access/token-documents.ts';
import type { Transaction, View } from '../../src/store/store.ts';

const PLAIN: Token = {
  displayName: 'token',
  policies: ['default', 'orders'],
  path: 'auth/token/create',
  meta: null,
  createdMs: 0,
  creationTtl: 0,
  renewable: false,
  explicitMaxTtl: 0,
  period: 0,
};

/** What a transaction has put; the only part of it that is needed here. */
function documents() {
  const kept = new Map<string, unknown>();
  const tx = {
    put: ({ id }: { id: string }, value: unknown) => void kept.set(id, JSON.parse(JSON.stringify(value))),
    get: async ({ id }: { id: string }) => kept.get(id),
  } as unknown as Transaction & View;
  return { tx, kept };
}

describe('tokens in the store', () => {
  it.each<[string, Partial<Token>]>([
    ['is bound to addresses', { boundCidrs: ['10.0.0.0/8'] }],
    ['stands for a wrapped answer', { wraps: true }],
    ['goes back to a login', { login: { mount: '1' } }],
    ['has a text that somebody chose', { serial: '1' }],
    ['goes with a token of a chosen text', { parentSerial: '1' }],
  ])('have no policies that an earlier release could see when the token %s', async (_, more) => {
    const { tx, kept } = documents();
    await putToken(tx, 'a', { ...PLAIN, ...more });
    expect(kept.get('a')).toMatchObject({ policies: [], ...more });
    expect(await tokenAt(tx, 'a')).toEqual({ ...PLAIN, ...more, isGuarded: true });
  });

  it('are as they always were when the token needs nothing that came later', async () => {
    const { tx, kept } = documents();
    await putToken(tx, 'a', PLAIN);
    expect(kept.get('a')).toEqual(PLAIN);
    expect(await tokenAt(tx, 'a')).toEqual(PLAIN);
  });

  it('are guarded as the one that issued them is, and stay so when they live on without it', async () => {
    const { tx, kept } = documents();
    await putToken(tx, 'a', { ...PLAIN, wraps: true });
    await putToken(tx, 'b', { ...PLAIN, parent: 'a' });
    const { parent: _, ...orphan } = (await tokenAt(tx, 'b')) ?? PLAIN;
    replaceToken(tx, 'b', orphan);
    expect(kept.get('b')).toEqual({ ...PLAIN, policies: [], guardedPolicies: PLAIN.policies });
  });

  it('keep their policies when an earlier release counts a use or moves an end', async () => {
    const { tx } = documents();
    await putToken(tx, 'a', { ...PLAIN, boundCidrs: ['10.0.0.0/8'], usesLeft: 3 });
    const document = await tx.get<Token>({ collection: TOKENS, id: 'a' });
    tx.put({ collection: TOKENS, id: 'a' }, { ...document, usesLeft: 2 });
    expect(await tokenAt(tx, 'a')).toMatchObject({ policies: PLAIN.policies, usesLeft: 2 });
  });
});

it('a token was issued its lifetime before its end, to the millisecond, and when it was made if it has no such end', () => {
  const ended: Token = { ...PLAIN, createdMs: 5000, creationTtl: 10, expiresMs: 15_999 };
  expect(issuedMs(ended)).toBe(6000);
  for (const more of [{ kind: 'batch' as const }, { renewedMs: 7000 }, { expiresMs: undefined }]) {
    expect(issuedMs({ ...ended, ...more } as Token)).toBe(5000);
  }
});
