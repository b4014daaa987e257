import { describe, expect, it } from 'vitest';
import { parseListenAddress, printAddress } from '../../../src/doors/http/listen-address.ts';

const LIMIT = 1000;

describe('an address to listen on', () => {
  it.each([
    ['127.0.0.1:8200', { host: '127.0.0.1', port: 8200, maxRequestBytes: LIMIT }],
    ['127.0.0.1:65535', { host: '127.0.0.1', port: 65_535, maxRequestBytes: LIMIT }],
    ['localhost:0', { host: 'localhost', port: 0, maxRequestBytes: LIMIT }],
    ['[::1]:8200', { host: '::1', port: 8200, maxRequestBytes: LIMIT }],
    ['unix:/run/coffer.sock', { socket: '/run/coffer.sock', maxRequestBytes: LIMIT }],
    ['127.0.0.1:1?max-request-size=5', { host: '127.0.0.1', port: 1, maxRequestBytes: 5 }],
    [
      '127.0.0.1:1?unauthenticated-metrics-access=true',
      { host: '127.0.0.1', port: 1, maxRequestBytes: LIMIT, openMetrics: true },
    ],
    [
      '127.0.0.1:1?unauthenticated-metrics-access=false',
      { host: '127.0.0.1', port: 1, maxRequestBytes: LIMIT },
    ],
    [
      'unix:/s?unauthenticated-metrics-access=true&max-request-size=7',
      { socket: '/s', maxRequestBytes: 7, openMetrics: true },
    ],
    ['unix:/s?max-request-size=7', { socket: '/s', maxRequestBytes: 7 }],
  ])('is read from %s', (text, expected) => {
    expect(parseListenAddress(text, LIMIT)).toEqual(expected);
  });

  it.each([
    '',
    '8200',
    ':8200',
    '127.0.0.1',
    '127.0.0.1:',
    '127.0.0.1:65536',
    '::1:8200',
    '[127.0.0.1]:8200',
    'http://127.0.0.1:8200',
    '127.0.0.1:8200?max-request-size=0',
    '127.0.0.1:8200?max-request-size=1e3x',
    '127.0.0.1:8200?limit=5',
    '127.0.0.1:8200?',
    '127.0.0.1:8200?unauthenticated-metrics-access=yes',
    '127.0.0.1:8200?max-request-size=5&max-request-size=6',
    '127.0.0.1:8200?max-request-size=5&x=1',
  ])('is refused when it is %j', (text) => {
    expect(() => parseListenAddress(text, LIMIT)).toThrow(
      expect.objectContaining({
        kind: 'invalid',
        message: `cannot listen on ${JSON.stringify(text)}`,
        field: 'listen',
      }),
    );
  });

  it.each([
    ['8203x', 'a port is a number: use 127.0.0.1:8203'],
    [':8203x', 'a port is a number: use 127.0.0.1:8203'],
    ['box:8200O', 'a port is a number: use box:8200'],
    ['[::1]:http', 'a port is a number: use [::1]:8200'],
    ['box', 'use box:8200'],
    ['fe80::1a', 'use [fe80::1a]:8200'],
    ['99999', 'no port is higher than 65535: use another one, e.g. 127.0.0.1:8200'],
    ['unix:', 'use unix:PATH, e.g. unix:/run/coffer.sock'],
    ['8203', 'use 127.0.0.1:8203'],
    ['http://127.0.0.1:82x', 'use HOST:PORT, e.g. 127.0.0.1:8200 or [::1]:8200'],
  ])('is refused with what to use instead of %s', (text, hint) => {
    expect(() => parseListenAddress(text, LIMIT)).toThrow(expect.objectContaining({ hint }));
  });

  it('is printed as clients take it', () => {
    expect(printAddress('::1', 8200, true)).toBe('https://[::1]:8200');
    expect(printAddress('127.0.0.1', 80, false)).toBe('http://127.0.0.1:80');
  });
});
