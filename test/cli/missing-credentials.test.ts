import { expect, it } from 'vitest';
import { runCommandLine } from '../../src/cli/command-line.ts';
import { streamsDouble } from './streams.double.ts';

it.each([
  [
    'login approle',
    'missing role_id and secret_id (add them: coffer login approle role_id=… secret_id=@FILE)',
  ],
  ['login approle secret_id=@sid', 'missing role_id (add it: coffer login approle role_id=…)'],
  ['login userpass ada', '"ada" is not KEY=VALUE (run "coffer login userpass username=ada")'],
  [
    'login approle deploy secret_id=@sid',
    '"deploy" is not KEY=VALUE (run "coffer login approle role_id=deploy secret_id=@sid")',
  ],
  ['login userpass', 'missing username (add it: coffer login userpass username=…)'],
])('names what a login lacks, before it looks for the server: %s', async (line, said) => {
  const streams = streamsDouble({});
  const environment = { COFFER_ADDR: 'http://127.0.0.1:1' };
  expect(await runCommandLine([...line.split(' '), '--no-store'], streams, environment)).toBe(2);
  expect(streams.written.err).toContain(said);
});
