import { expect, it } from 'vitest';
import { runCommandLine } from '../../../src/cli/command-line.ts';
import { streamsDouble } from '../streams.double.ts';

const RECORD = JSON.stringify({
  type: 'response',
  time: '2026-01-01T00:00:00Z',
  auth: { display_name: 'token', accessor: '9b567afbXYZ0123456789abc' },
  request: { id: '1', operation: 'read', path: 'auth/token/lookup-self', remote_address: '' },
  response: { status: 200 },
});

it('says that --token selects no requests, and which option does, as for --role', async () => {
  for (const [option, said, exitCode] of [
    [
      '--token=cfr.abc',
      '--token does not select requests; to list the requests of a token, use --user ACCESSOR\n',
      0,
    ],
    ['--role=app2', 'use --user NAME', 2],
  ] as const) {
    const streams = streamsDouble({ input: RECORD });
    expect(await runCommandLine(['audit', 'show', '-', option], streams, {}), option).toBe(exitCode);
    expect(streams.written.err).toContain(said);
    expect(streams.written.out.includes('lookup-self')).toBe(exitCode === 0);
  }
  const streams = streamsDouble({ input: RECORD });
  await runCommandLine(['audit', 'show', '-'], streams, { COFFER_TOKEN: 'cfr.abc' });
  expect(streams.written.err).toBe('');
});

it('keeps the last part of a path whole beside the word for the operation, if it fits', async () => {
  const streams = streamsDouble({ input: RECORD, terminals: ['out', 'err'], columns: 60 });
  await runCommandLine(['audit', 'show', '-'], streams, { NO_COLOR: '1' });
  expect(streams.written.out).toContain('│ read …/lookup-self ');
});

it('names the role of a login with AppRole, and finds its requests by it', async () => {
  const ofWeb = '"approle","metadata":{"role_name":"web"}';
  const input = `${RECORD.replace('"token"', ofWeb)}\n${RECORD.replace('"id":"1"', '"id":"2"')}`;
  const streams = streamsDouble({ input, terminals: ['out', 'err'], columns: 120 });
  expect(
    await runCommandLine(['audit', 'show', '-', '--user', 'web', '--all'], streams, { NO_COLOR: '1' }),
  ).toBe(0);
  expect(streams.written.out.match(/│ approle web +│/g)).toHaveLength(1);
});

it('says of a role that is not found that an older log has no roles', async () => {
  const input = RECORD.replace('"token"', '"approle"');
  const streams = streamsDouble({ input });
  expect(await runCommandLine(['audit', 'show', '-', '--user', 'app2'], streams, {})).toBe(0);
  expect(streams.written).toMatchObject({
    out: '',
    err: 'No requests of user "app2" in standard input (older releases of Coffer did not record the roles of AppRole logins: use --user approle or --user ACCESSOR)\n',
  });
});

it('audit show names callers in a table that was asked for in a pipe, as on a terminal, and else as ever', async () => {
  const web = RECORD.replace('"token"', '"approle","metadata":{"role_name":"web"}');
  const login = JSON.stringify({
    ...JSON.parse(RECORD),
    auth: {},
    request: { ...JSON.parse(RECORD).request, id: 'login', path: 'auth/userpass/login/ada' },
  });
  const input = `${web}\n${login}\n`;
  const callers = async (...form: readonly string[]): Promise<string> => {
    const streams = streamsDouble({ input });
    await runCommandLine(['audit', 'show', '-', ...form], streams, {});
    return streams.written.out;
  };
  for (const form of ['table', 'wide']) {
    const table = await callers('-o', form);
    expect(table).toContain('approle web');
    expect(table).toMatch(/\bada +read\b|│ ada +│/);
  }
  expect(await callers()).not.toContain('approle web');
});

it('says once that nothing was found, and that paths begin with the mount', async () => {
  const show = async (...options: readonly string[]): Promise<string> => {
    const streams = streamsDouble({ input: RECORD, terminals: ['out', 'err'], columns: 120 });
    expect(await runCommandLine(['audit', 'show', '-', ...options], streams, {})).toBe(0);
    return streams.written.err;
  };
  const scope = 'Local commands are not recorded, only requests to a server.\n';
  expect(await show('--user', 'bob')).toBe(`No requests of user "bob" in standard input\n${scope}`);
  expect(await show('--path', 'orders')).toBe(
    `No path in standard input begins with "orders": paths begin with the mount, e.g. transit/keys/orders\n${scope}`,
  );
  expect(await show('--path', 'decrypt')).toContain('e.g. transit/decrypt/\n');
  expect(await show('--path', 'auth/token/', '--failed')).toBe(`No requests found.\n${scope}`);
});

it('leaves out reads that found nothing where a person asks for failures, says how many, and shows them if asked', async () => {
  const request = (id: string, operation: string, status: number): string => {
    const record = JSON.parse(RECORD);
    const path = `auth/userpass/users/${id}`;
    return JSON.stringify({
      ...record,
      request: { ...record.request, id, operation, path },
      response: { status },
    });
  };
  const input = [
    request('looked', 'read', 404),
    request('listed', 'list', 404),
    request('denied', 'read', 403),
    request('deleted', 'delete', 404),
    request('fine', 'read', 200),
  ].join('\n');
  const show = async (isTerminal: boolean, ...options: readonly string[]) => {
    const streams = streamsDouble({ input, terminals: isTerminal ? ['out', 'err'] : [], columns: 120 });
    await runCommandLine(['audit', 'show', '-', ...options], streams, { NO_COLOR: '1' });
    const names = [...streams.written.out.matchAll(/users\/(\w+)/g)].map(([, name]) => name);
    return {
      names,
      isSaid: streams.written.err.includes('Reads that found nothing, left out: 2 (use --all'),
    };
  };
  const all = ['looked', 'listed', 'denied', 'deleted'];
  expect(await show(true, '--failed')).toEqual({ names: ['denied', 'deleted'], isSaid: true });
  expect(await show(true, '--failed', '--all')).toEqual({ names: all, isSaid: false });
  expect(await show(true, '--failed', '--path', 'auth/')).toEqual({ names: all, isSaid: false });
  expect(await show(false, '--failed')).toEqual({ names: all, isSaid: false });
  expect(await show(true)).toEqual({ names: [...all, 'fine'], isSaid: false });
});
