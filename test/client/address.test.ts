import { describe, expect, it } from 'vitest';
import { isExposed, parseAddress } from '../../src/client/http-transport.ts';
import { refusal } from '../refusal.ts';

describe('the address of a server', () => {
  it.each([
    ['http://127.0.0.1:8200', { kind: 'tcp', secure: false, host: '127.0.0.1', port: 8200 }],
    ['http://localhost', { kind: 'tcp', secure: false, host: 'localhost', port: 80 }],
    ['https://coffer.example/', { kind: 'tcp', secure: true, host: 'coffer.example', port: 443 }],
    ['https://[::1]:8200', { kind: 'tcp', secure: true, host: '::1', port: 8200 }],
    ['unix:/run/coffer.sock', { kind: 'socket', path: '/run/coffer.sock' }],
    ['unix:///run/coffer.sock', { kind: 'socket', path: '/run/coffer.sock' }],
  ])('%s is read', (text, expected) => {
    expect(parseAddress(text)).toEqual(expected);
  });

  it.each([
    '',
    '127.0.0.1:8200',
    'localhost:8200',
    'ftp://host',
    'http://host/path',
    'http://host?x=1',
    'unix:relative.sock',
    'unix:',
  ])('%j is refused', (text) => {
    expect(refusal(() => parseAddress(text))).toEqual({
      kind: 'invalid',
      message: `invalid server address ${JSON.stringify(text)}`,
      field: 'address',
    });
  });

  it.each(['http://user:pw@host', 'https://:pw@host:8200', 'http://user@host/path'])(
    '%s is refused without saying it again: there may be a password in it',
    (text) => {
      expect(refusal(() => parseAddress(text))).toEqual({
        kind: 'invalid',
        message: 'a server address must not contain a user name or password',
        field: 'address',
      });
    },
  );

  it.each([
    ['http://coffer.example:8200', true],
    ['http://10.0.0.7:8200', true],
    ['http://[fe80::1]:8200', true],
    ['http://127.0.0.1:8200', false],
    ['http://[::1]:8200', false],
    ['http://localhost:8200', false],
    ['https://coffer.example:8200', false],
    ['unix:/run/coffer.sock', false],
  ])('%s shows what is sent to others on the network: %s', (text, expected) => {
    expect(isExposed(text)).toBe(expected);
  });
});
