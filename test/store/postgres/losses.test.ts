import { describe, expect, it } from 'vitest';
import { unavailable } from '../../../src/ground/errors.ts';
import {
  isConnectionLoss,
  isSerializationFailure,
  PoolerError,
  ReplicaError,
  SilenceError,
} from '../../../src/store/backends/postgres/database-errors.ts';

const coded = (code: string, message = 'of the database') => Object.assign(new Error(message), { code });

describe('an error of a database', () => {
  it.each<[string, unknown]>([
    ['a pipe that is closed', coded('EPIPE')],
    ['a connection that is reset', coded('ECONNRESET')],
    ['a port that nobody listens on', coded('ECONNREFUSED')],
    ['a name that is not found', coded('ENOTFOUND')],
    ['SQLSTATE 08006', coded('08006')],
    ['a server that is shut down', coded('57P01')],
    ['too many connections', coded('53300')],
    ['a statement that was cancelled', coded('57014')],
    ['a transaction that was idle for too long', coded('25P03')],
    ['silence', new SilenceError()],
    ['a library that has lost its connection', new Error('Connection terminated unexpectedly')],
    ['a replica', new ReplicaError()],
  ])('is the loss of a connection, so that another one is tried: %s', (_, error) => {
    expect(isConnectionLoss(error)).toBe(true);
  });

  it.each<[string, unknown]>([
    ['a wrong password', coded('28P01')],
    ['a table that is not there', coded('42P01')],
    ['a conflict of transactions', coded('40001')],
    ['a pooler in transaction mode', new PoolerError()],
    ['a server without TLS', new Error('The server does not support SSL connections')],
    ['a password that is none', new Error('SASL: client password must be a string')],
    ['an empty password', new Error('SASL: client password must be a non-empty string')],
    ['a certificate for a purpose of its own', coded('INVALID_PURPOSE')],
    ['a certificate for another host', coded('ERR_TLS_CERT_ALTNAME_INVALID')],
    ['an error of our own', unavailable('no')],
    ['a defect', new TypeError('x is not a function')],
    ['a defect in the use of Node', coded('ERR_INVALID_ARG_TYPE')],
  ])('is no loss of a connection: %s', (_, error) => {
    expect(isConnectionLoss(error)).toBe(false);
  });

  it('is a conflict with other transactions by its SQLSTATE alone', () => {
    expect(['40001', '40P01', '40002', 'EPIPE'].map((code) => isSerializationFailure(coded(code)))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});
