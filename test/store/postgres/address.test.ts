import { describe, expect, it } from 'vitest';
import { parseAddress } from '../../../src/store/backends/postgres/address.ts';
import { thrownBy } from '../../reference/thrown.ts';

describe('the location of a store in PostgreSQL', () => {
  it.each(['postgres://%', 'postgres://%zz@host/d', 'postgres://host/%', 'postgres://host/d?host=%25zz'])(
    'is refused where a %% begins no escape: %s',
    (location) => {
      expect(thrownBy(() => parseAddress(location))).toMatchObject({
        kind: 'invalid',
        field: 'store',
        message: "the location of the store can't be right: a % stands before two hexadecimal digits",
      });
    },
  );

  it('is refused when it is no text that could be printed again', () => {
    expect(thrownBy(() => parseAddress('postgres://\udc00@host/d'))).toMatchObject({
      kind: 'invalid',
      field: 'store',
      message:
        "the location of the store can't be right: it is not of the form postgres://USER@HOST:PORT/DATABASE",
    });
  });
});
