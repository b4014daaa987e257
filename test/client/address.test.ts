import { describe, expect, it } from 'vitest';
import { parseAddress } from '../../src/client/address.ts';
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
    'http://user:pw@host',
    'unix:relative.sock',
    'unix:',
  ])('%j is refused', (text) => {
    expect(refusal(() => parseAddress(text))).toEqual({
      kind: 'invalid',
      message: `${JSON.stringify(text)} is not the address of a server`,
      field: 'address',
    });
  });
});
