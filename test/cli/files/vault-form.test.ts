import { describe, expect, it } from 'vitest';
import { alone, asVault, fieldOf, memberShape, vaultForm } from '../../../src/cli/files/vault-form.ts';
import type { OptionValue } from '../../../src/cli/given.ts';
import type { Outcome } from '../../../src/operations/declaration/operation.ts';
import { refusal } from '../../refusal.ts';
import { answeredSession } from '../answering.ts';

const outcomeOf = (outcome: object): Outcome<unknown> => outcome as Outcome<unknown>;
const AUTH = { client_token: 'cfr.x', accessor: 'acc', lease_duration: 60, renewable: true };

describe('a result in the form of another client', () => {
  it('has all members of a response, those that the server has sent before the usual ones', () => {
    const data = { a: 1 };
    const usual = { request_id: '', lease_id: '', lease_duration: 0, renewable: false };
    const empty = { warnings: null, auth: undefined, wrap_info: undefined };
    expect(asVault(outcomeOf({ data }), false)).toEqual({ ...usual, ...empty, data });
    const sent = { request_id: 'r', lease_id: undefined };
    expect(asVault(outcomeOf({ data, envelope: sent }), false)).toEqual({
      ...{ ...usual, ...empty, data },
      request_id: 'r',
    });
    const wrapInfo = { token: 't' };
    expect(asVault(outcomeOf({ wrapInfo }), false)).toMatchObject({ data: null, wrap_info: wrapInfo });
    expect(asVault(outcomeOf({}), false)).toBeUndefined();
  });

  it('is of a list only the names, and of a field only its value', () => {
    expect(asVault(outcomeOf({ data: { keys: ['a'], key_info: {} } }), true)).toEqual(['a']);
    for (const data of [undefined, null, 'x']) expect(asVault(outcomeOf({ data }), true)).toEqual([]);
    expect(asVault(outcomeOf({ data: { a: [1] } }), false, 'a')).toEqual([1]);
  });

  it.each<[unknown, string | undefined]>([
    [{ b: 1, c: 2 }, 'use one of b, c'],
    [{ a: undefined, b: 1 }, 'use one of a, b'],
    ['text', undefined],
    [undefined, undefined],
  ])('is refused where the result %j lacks the field', (result, hint) => {
    expect(refusal(() => memberShape(result, 'a'))).toEqual({
      kind: 'not-found',
      message: 'the result has no field "a"',
      field: 'field',
    });
    try {
      memberShape(result, 'a');
    } catch (error) {
      expect(error).toMatchObject({ hint });
    }
    expect(refusal(() => memberShape({}, 'constructor')).kind).toBe('not-found');
  });

  it('has the fields of a token under the names of vault, and those of anything else under their own', () => {
    expect(fieldOf(outcomeOf({ auth: AUTH }), 'token')).toBe('client_token');
    expect(fieldOf(outcomeOf({ auth: AUTH }), 'token_duration')).toBe('lease_duration');
    expect(fieldOf(outcomeOf({ auth: { ...AUTH, token: 'own' } }), 'token')).toBe('token');
    expect(fieldOf(outcomeOf({ auth: AUTH }), 'a')).toBe('a');
    expect(fieldOf(outcomeOf({ data: {} }), 'token')).toBe('token');
    expect(fieldOf(outcomeOf({ auth: AUTH }), undefined)).toBeUndefined();
  });

  it('is one field alone in every format, as another one may be a token', () => {
    const result = { a: 'x', client_token: 'cfr.x' };
    const shape = memberShape(result, 'a');
    const printed = (format: string) =>
      alone(answeredSession(() => undefined, { output: format }).session, result, shape);
    expect(printed('json').result).toBe('x');
    expect(printed('table').result).toEqual({ a: 'x' });
    expect(printed('wide').result).toEqual({ a: 'x' });
    expect(printed('raw')).toMatchObject({ result, shape: { result: { member: 'a', as: 'text' } } });
  });

  it('is none unless an option asks for one', () => {
    const form = (options: Readonly<Record<string, OptionValue>>) =>
      vaultForm(
        answeredSession(() => undefined).session,
        outcomeOf({ data: { a: ['x'] } }),
        new Map(Object.entries(options)),
      );
    expect(form({})).toBeUndefined();
    expect(form({ field: 'a' })?.shape).toEqual({ result: { member: 'a', as: 'lines' } });
    expect(form({ format: 'json' })?.result).toMatchObject({ data: { a: ['x'] } });
    expect(form({ format: 'json', field: 'a' })?.result).toEqual(['x']);
    expect(form({ format: 'table' })).toMatchObject({ result: { a: ['x'] }, shape: undefined });
  });
});
