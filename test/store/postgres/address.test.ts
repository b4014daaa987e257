import { describe, expect, it } from 'vitest';
import { parseAddress } from '../../../src/store/backends/postgres/address.ts';
import { thrownBy } from '../../reference/thrown.ts';

describe('the location of a store in PostgreSQL', () => {
  it.each(['postgres://%', 'postgres://%zz@host/d', 'postgres://host/%', 'postgres://host/d?host=%25zz'])(
    'is refused where a percent sign begins no escape: %s',
    (location) => {
      expect(thrownBy(() => parseAddress(location))).toMatchObject({
        kind: 'invalid',
        field: 'store',
        message: 'invalid store location: % must be followed by two hexadecimal digits',
      });
    },
  );

  it('is refused when it is no text that could be printed again', () => {
    expect(thrownBy(() => parseAddress('postgres://\udc00@host/d'))).toMatchObject({
      kind: 'invalid',
      field: 'store',
      message: 'invalid store location: it is not of the form postgres://USER@HOST:PORT/DATABASE',
    });
  });

  it.each([
    ['a'.repeat(64), 'may have 63 characters at most'],
    ['1a', 'must begin with a letter or _'],
    ['', 'must begin with a letter or _'],
    ['A', 'may only contain lower-case letters, digits and underscores'],
  ])('is refused with what is wrong with its schema: %j %s', (schema, reason) => {
    const refusal = { message: `invalid store location: the schema ${reason}` };
    expect(thrownBy(() => parseAddress(`postgres://host/d?schema=${schema}`))).toMatchObject(refusal);
  });

  it('leaves out what is known beside it, and keeps what it says itself', () => {
    const defaults = { host: 'other', port: '5433', user: 'ada', dbname: 'keys', connect_timeout: '3' };
    expect(parseAddress('postgres://', defaults)).toMatchObject({
      hosts: [{ host: 'other', port: 5433 }],
      user: 'ada',
      database: 'keys',
      connectTimeoutMs: 3000,
      place: { database: 'postgres://ada@other:5433/keys' },
    });
    expect(parseAddress('postgres://bob@db:5432/store?connect_timeout=7', defaults)).toMatchObject({
      hosts: [{ host: 'db', port: 5432 }],
      user: 'bob',
      database: 'store',
      connectTimeoutMs: 7000,
    });
    expect(parseAddress('postgres:///?host=db&user=bob&dbname=store', defaults)).toMatchObject({
      hosts: [{ host: 'db', port: 5433 }],
      user: 'bob',
      database: 'store',
    });
  });

  it('has its own port for one of several hosts, and then the one beside it for none', () => {
    expect(parseAddress('postgres://one:5000,two/keys', { port: '5433' }).hosts).toEqual([
      { host: 'one', port: 5000 },
      { host: 'two', port: undefined },
    ]);
  });

  it('takes a value from beside it as it is, without escapes', () => {
    const { database, passwordFile } = parseAddress('postgres://db', {
      dbname: 'a%41&b',
      passwordfile: '/run/pass word',
    });
    expect([database, passwordFile]).toEqual(['a%41&b', '/run/pass word']);
  });

  it.each(['0', '65536', '99999', '5432.5', 'five'])('has no port %s', (port) => {
    const message = 'invalid store location: the port must be a number from 1 to 65535';
    const parsed = () => parseAddress('postgres://db/keys', { port });
    expect(thrownBy(parsed)).toMatchObject({ kind: 'invalid', message });
    if (/^\d+$/.test(port)) {
      expect(thrownBy(() => parseAddress(`postgres://db:${port}/keys`))).toMatchObject({ message });
    }
  });

  it('has ports up to 65535', () => {
    expect(parseAddress('postgres://db:65535/keys').hosts).toEqual([{ host: 'db', port: 65_535 }]);
    expect(parseAddress('postgres://db:1/keys').hosts).toEqual([{ host: 'db', port: 1 }]);
  });

  it.each(['0', '-1', '1.5', 'soon', ''])('is not waited for %j seconds', (seconds) => {
    const parsed = () => parseAddress('postgres://db/keys', { connect_timeout: seconds });
    expect(thrownBy(parsed)).toMatchObject({
      kind: 'invalid',
      message: 'invalid store location: connect_timeout must be a number of seconds, at least 1',
    });
  });

  it('is waited for a second at least', () => {
    expect(parseAddress('postgres://db/keys?connect_timeout=1').connectTimeoutMs).toBe(1000);
  });

  it.each([
    'postgres:///ada:secret@db/keys',
    'postgres:///ada:sec/ret-secret@db',
    'postgres://ada:12?secret=x@db/keys',
    'postgres://ada:12?secret@db/keys',
  ])('is refused without an echo of a password that has characters of a location: %s', (location) => {
    const error = thrownBy(() => parseAddress(location));
    expect(error).toMatchObject({ kind: 'invalid', field: 'store' });
    expect(JSON.stringify(error)).not.toContain('secret');
    expect(String(error)).not.toContain('secret');
  });
});
