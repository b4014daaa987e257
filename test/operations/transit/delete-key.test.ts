import { describe, expect, it } from 'vitest';
import { rejectionOf } from '../../reference/thrown.ts';
import { freshOperations } from './operations.ts';

describe('keys delete', () => {
  it('deletes the key of the name once that is allowed, and answers nothing', async () => {
    const { ask, outcome } = await freshOperations();
    await ask('keys create', { name: 'orders' });
    expect(await rejectionOf(ask('keys delete', { name: 'orders' }))).toMatchObject({
      kind: 'conflict',
      message: 'error deleting policy orders: deletion is not allowed for this key',
    });
    await ask('keys config', { name: 'orders', deletion_allowed: true });
    expect(await outcome('keys delete', { name: 'orders' })).toEqual({});
    expect(await rejectionOf(ask('keys delete', { name: 'orders' }))).toMatchObject({
      kind: 'not-found',
      message: 'error deleting policy orders: could not delete key; not found',
    });
  });
});

describe('keys soft-delete', () => {
  it('stops every use of the key of the name, and says when it was stopped already', async () => {
    const { ask, outcome } = await freshOperations();
    await ask('keys create', { name: 'orders' });
    const softDelete = () => outcome('keys soft-delete', { name: 'orders' });
    expect(await softDelete()).toMatchObject({ data: { name: 'orders', soft_deleted: true }, warnings: [] });
    expect(await softDelete()).toMatchObject({ warnings: ['key was already marked as soft deleted'] });
    for (const [words, rest] of [
      ['encrypt', { plaintext: '' }],
      ['hmac', { input: '' }],
      ['datakey', { type: 'wrapped' }],
      ['keys rotate', {}],
    ] as const) {
      expect(await rejectionOf(ask(words, { name: 'orders', ...rest }))).toMatchObject({
        kind: 'conflict',
        message: 'refusing to use soft-deleted key',
      });
    }
  });
});

describe('keys soft-delete-restore', () => {
  it('lets the key of the name be used again, and says when it was so already', async () => {
    const { ask, outcome } = await freshOperations();
    await ask('keys create', { name: 'orders' });
    await ask('keys soft-delete', { name: 'orders' });
    const restore = () => outcome('keys soft-delete-restore', { name: 'orders' });
    expect(await restore()).toMatchObject({ data: { soft_deleted: false }, warnings: [] });
    expect(await restore()).toMatchObject({ warnings: ['key was already restored'] });
    await ask('encrypt', { name: 'orders', plaintext: '' });
  });
});
