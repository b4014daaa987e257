import { describe, expect, it } from 'vitest';
import { tokenSettingsParams } from '../../../src/operations/auth/token-settings.ts';
import { configParams, loginConfigParams, traitsIn } from '../../../src/operations/sys/mount-config.ts';
import { refusal } from '../../refusal.ts';

describe('the settings of a mount', () => {
  it.each<[unknown, unknown]>([
    ['', undefined],
    [null, undefined],
    ['system', 0],
    [0, 0],
    ['1h', 3600],
    [90, 90],
  ])('have a time that is %j as %j', (given, seconds) => {
    expect(configParams.default_lease_ttl.parse(given, 'default_lease_ttl')).toBe(seconds);
    expect(configParams.max_lease_ttl.parse(given, 'max_lease_ttl')).toBe(seconds);
  });

  it.each<[unknown, unknown]>([
    ['service', 'service'],
    ['batch', 'batch'],
    ['default-batch', 'default-batch'],
    ['default-service', ''],
    ['', undefined],
    [null, undefined],
  ])('have a kind of tokens that is %j as %j', (given, kind) => {
    expect(loginConfigParams.token_type.parse(given, 'token_type')).toBe(kind);
  });

  it.each(['default', 'Service', 1, [], {}])('have no kind of tokens %j', (given) => {
    expect(refusal(() => loginConfigParams.token_type.parse(given, 'token_type'))).toEqual({
      kind: 'invalid',
      message: "invalid value for 'token_type'",
      field: 'token_type',
    });
  });

  it('have the traits that are set', () => {
    expect(traitsIn({})).toBeUndefined();
    expect(traitsIn({ local: false, seal_wrap: false })).toBeUndefined();
    expect(traitsIn({ local: true, seal_wrap: false, external_entropy_access: true })).toEqual({
      local: true,
      external_entropy_access: true,
    });
  });
});

describe('the settings of a role', () => {
  const kindOf = (given: unknown) => tokenSettingsParams.token_type.parse(given, 'token_type');

  it.each<[unknown, string]>([
    ['service', 'service'],
    ['default-service', 'service'],
    ['default', 'default'],
    ['', 'default'],
    [null, 'default'],
    ['batch', 'batch'],
    ['default-batch', 'batch'],
  ])('have a kind of tokens that is %j as %j', (given, kind) => {
    expect(kindOf(given)).toBe(kind);
  });

  it.each([
    ['odd', '"odd"'],
    [true, 'true'],
  ])('have no kind of tokens %j', (given, shown) => {
    expect(refusal(() => kindOf(given)).message).toBe(`invalid 'token_type' value ${shown}`);
  });
});
