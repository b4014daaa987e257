/** What the files of one run share: `test/postgres.setup.ts` makes it for the first who asks, and takes it down in the end. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { Database } from './database.ts';

/** The socket on which the run is asked. */
export const RUN_VARIABLE = 'COFFER_TEST_POSTGRES';

/** Elsewhere, as in a benchmark, everybody has a server to himself. */
export const isRunOfTests = (): boolean => process.env[RUN_VARIABLE] !== undefined;

/** What a run has: by the word with which it is asked for. */
export interface Shared {
  /** The directory with the files of a server that was never started. */
  readonly template: string;
  readonly server: { readonly port: number; readonly directory: string };
}

export type Answer = { readonly value: unknown } | { readonly error: string };

/** The files of a server that was never started, to be copied; undefined where there is no run of tests. */
export const templateOfRun = async (): Promise<string | undefined> =>
  isRunOfTests() ? ask('template') : undefined;

let databases = 0;

/** A new database of the one server that all files of this run share; it has the role `clerk`, too, whose password is `clerk`. */
export async function sharedDatabase(): Promise<Database> {
  const { port, directory } = await ask('server');
  const name = `file_${process.pid}_${Date.now()}_${++databases}`;
  await new Database(port, directory, 'postgres').query(`CREATE DATABASE ${name}`);
  return new Database(port, directory, name);
}

async function ask<K extends keyof Shared>(what: K): Promise<Shared[K]> {
  const path = process.env[RUN_VARIABLE];
  if (path === undefined) throw new Error('test/postgres.setup.ts is not among the globalSetup of this run');
  const socket = connect(path);
  await once(socket, 'connect');
  socket.end(what);
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  const answer = JSON.parse(text) as Answer;
  if ('error' in answer) throw new Error(answer.error);
  return answer.value as Shared[K];
}
