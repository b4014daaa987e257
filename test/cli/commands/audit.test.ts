import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { runCommandLine } from '../../../src/cli/command-line.ts';
import {
  cleanUpAfterAll,
  issueToken,
  send,
  setPolicy,
  startServer,
  temporaryDirectory,
} from '../../servers/serving.ts';
import { streamsDouble } from '../streams.double.ts';

let file: string;
const cleaning = cleanUpAfterAll();

beforeAll(async () => {
  file = join(temporaryDirectory(cleaning), 'audit.log');
  const { address, token, directory } = await startServer({ auditFile: file }, cleaning);
  await setPolicy(directory, 'none', 'path "x" { capabilities = ["read"] }');
  const poor = await issueToken(directory, { policies: ['none'], display_name: 'ada' });
  await send(address, 'POST', '/v1/transit/keys/orders', { token });
  await send(address, 'POST', '/v1/transit/encrypt/orders', { token, body: { plaintext: 'aGk=' } });
  await send(address, 'POST', '/v1/transit/decrypt/orders', { token: poor, body: { ciphertext: 'x' } });
});

async function shown(line: string, input = '') {
  const streams = streamsDouble({ input });
  const exitCode = await runCommandLine(['audit', 'show', ...line.split(' ')], streams, {});
  const rows = streams.written.out
    .split('\n')
    .filter((row) => row !== '')
    .map((row) => row.split('\t'));
  return { exitCode, rows, err: streams.written.err };
}

/** Record of a successful request without a token. */
const lineFor = (path: string): string =>
  JSON.stringify({
    type: 'response',
    time: '2026-01-01T00:00:00Z',
    auth: {},
    request: { id: path, operation: 'update', path, remote_address: '' },
    response: { status: 200 },
  });

describe('coffer audit show', () => {
  it('prints each request once, with its caller and result, although changes are recorded twice', async () => {
    const { exitCode, rows } = await shown(file);
    expect(exitCode).toBe(0);
    expect(rows.map(([, ...rest]) => rest)).toEqual([
      [expect.any(String), 'update', 'transit/keys/orders', 'ok'],
      [expect.any(String), 'update', 'transit/encrypt/orders', 'ok'],
      ['token-ada', 'update', 'transit/decrypt/orders', 'permission denied'],
    ]);
    expect(rows.every(([time = '']) => !Number.isNaN(Date.parse(time)))).toBe(true);
  });

  it.each([
    ['--user ada', ['transit/decrypt/orders']],
    ['--user token-ada', ['transit/decrypt/orders']],
    ['--user eve', []],
    ['--path transit/keys/', ['transit/keys/orders']],
    ['--failed', ['transit/decrypt/orders']],
    ['--since yesterday --last 1', ['transit/decrypt/orders']],
    ['--since 1h --last 0', ['transit/keys/orders', 'transit/encrypt/orders', 'transit/decrypt/orders']],
    ['--until yesterday', []],
    ['--until 2026-01-01', []],
  ])('shows only what was asked for: %s', async (options, paths) => {
    expect((await shown(`${file} ${options}`)).rows.map((row) => row[3])).toEqual(paths);
  });

  it('shows the logins of a user, wrong passwords too, with what the user did', async () => {
    const lines = ['auth/userpass/login/ada', 'auth/people/login/Ada', 'auth/userpass/login/eve'].map(
      lineFor,
    );
    const { rows } = await shown('- --user ada', lines.join('\n'));
    expect(rows.map((row) => row[3])).toEqual(['auth/userpass/login/ada', 'auth/people/login/Ada']);
  });

  it('finds a token by each form that a table shows of it', async () => {
    const line = (accessor: string) =>
      JSON.stringify({
        ...JSON.parse(lineFor(accessor)),
        auth: { display_name: 'token', accessor: `hmac-sha256:${accessor}` },
      });
    const log = [line('2055760eaa11'), line('99bb760eaa11')].join('\n');
    for (const user of ['2055760e', 'token 2055760e', '2055760eaa', 'hmac-sha256:2055760eaa11']) {
      const streams = streamsDouble({ input: log });
      await runCommandLine(['audit', 'show', '-', '--user', user], streams, {});
      expect(streams.written.out.trimEnd().split('\n'), user).toEqual([
        expect.stringContaining('2055760eaa11'),
      ]);
      expect(streams.written.err, user).toBe('');
    }
  });

  it('says on standard error of a user who is not in the log, with the name that is near', async () => {
    const log = [lineFor('auth/userpass/login/margaret')].join('\n');
    expect(await shown('- --user margarte', log)).toEqual({
      exitCode: 0,
      rows: [],
      err: 'No requests of user "margarte" in standard input (did you mean "margaret"?)\n',
    });
    expect((await shown(`${file} --user nope`)).err).toBe(`No requests of user "nope" in ${file}\n`);
    expect((await shown(`${file} --user ada --until yesterday`)).err).toBe('');
    expect((await shown(`${file} --user nope --quiet`)).err).toBe('');
  });

  describe('on a terminal', () => {
    const log = ['sys/capabilities-self', 'transit/encrypt/orders'].map(lineFor).join('\n');
    const atTerminal = async (line: string) => {
      const streams = streamsDouble({ input: log, terminals: ['out', 'err'], columns: 120 });
      await runCommandLine(['audit', 'show', '-', ...line.split(' ')], streams, { NO_COLOR: '1' });
      return streams.written.out;
    };

    it('leaves out what commands ask by themselves, unless --all or their path is given', async () => {
      expect(await atTerminal('--last 5')).not.toContain('capabilities-self');
      expect(await atTerminal('--last 5')).toContain('transit/encrypt/orders');
      expect(await atTerminal('--all')).toContain('sys/capabilities-self');
      expect(await atTerminal('--path sys/')).toContain('sys/capabilities-self');
    });

    it.each(['', ' -o wide', ' --user eve'])(
      'says below the requests that local commands are not among them, within 60 columns: "%s"',
      async (options) => {
        const streams = streamsDouble({ input: log, terminals: ['out', 'err'], columns: 120 });
        const line = `audit show -${options} --no-color`;
        await runCommandLine(line.split(' '), streams, {});
        const { out, err } = streams.written;
        const last = `${out}${err}`.trimEnd().split('\n').at(-1) ?? '';
        expect(last).toBe('Local commands are not recorded, only requests to a server.');
        expect(last.length).toBeLessThanOrEqual(60);
      },
    );

    it.each(['', ' -o table', ' -o wide', ' -o json'])(
      'says nothing of local commands in a pipe: "%s"',
      async (form) => {
        const { rows, err } = await shown(`-${form}`, log);
        expect(`${rows.flat().join()}${err}`).not.toContain('Local commands');
      },
    );

    it('says that times are local, and leaves everything as it is in a pipe', async () => {
      expect(await atTerminal('--all')).toMatch(/│ Time \(local\) +│ User/);
      expect((await shown('-', log)).rows.map((row) => row[3])).toEqual([
        'sys/capabilities-self',
        'transit/encrypt/orders',
      ]);
      expect((await shown('- -o table', log)).rows.flat().join()).toMatch(/^Time +User/);
    });
  });

  describe('on a narrow terminal', () => {
    const record = (path: string, over: object = {}) => ({
      ...JSON.parse(lineFor(path)),
      auth: { display_name: 'token', accessor: '9b567afbXYZ0123456789abc' },
      ...over,
    });
    const records = [
      record('transit/decrypt/the-orders-of-every-customer'),
      record('transit/encrypt/orders', { response: { status: 403 }, error: 'permission denied' }),
      record('auth/userpass/login/ada', { auth: {} }),
      record('auth/userpass/login/eve', { auth: {}, response: { status: 400 } }),
    ];
    const drawn = async (columns: number, options = '', of: readonly object[] = records) => {
      const input = of.map((each) => JSON.stringify(each)).join('\n');
      const streams = streamsDouble({ input, terminals: ['out', 'err'], columns });
      const line = ['audit', 'show', '-', ...options.split(' ').filter(Boolean)];
      await runCommandLine(line, streams, { NO_COLOR: '1' });
      return streams.written.out.trimEnd().split('\n');
    };
    const FRAME = 4;
    const SUMMARY = 2;

    it.each([60, 72, 90])('takes one line for each request at %i columns', async (columns) => {
      const lines = await drawn(columns);
      expect(lines).toHaveLength(records.length + FRAME + SUMMARY);
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
      expect(lines.at(-SUMMARY)).toMatch(/^\d{4}-\d\d-\d\d, local times; use -o wide for the full table$/);
    });

    it('shortens the time, leaves out the column of operations, and cuts paths in front', async () => {
      const text = (await drawn(60)).join('\n');
      expect(text).toMatch(/│ Time +│ User +│ Path +│ Result +│/);
      expect(text).toMatch(/│ \d\d:\d\d:00 │ token 9b567afb │ …\/decrypt\/the-…omer +│ ok +│/);
      expect(text).toMatch(/│ …\/encrypt\/orders +│ denied +│/);
    });

    it('folds a reason that has no room beside the path below it', async () => {
      const error = 'illegal base64 data at input byte 4';
      const failed = (text: string, verb: string, status = 400) =>
        record(`transit/${verb}/orders`, { response: { status }, error: text });
      const lines = await drawn(60, '', [
        failed(error, 'decrypt'),
        failed('word '.repeat(99), 'hmac'),
        failed('', 'sign', 0),
      ]);
      const cells = lines.slice(3, 13).map((line) => line.split('│').map((cell) => cell.trim()));
      expect(cells[0]?.slice(3, 5)).toEqual(['…/decrypt/orders', 'failed']);
      const below = (from: number, to: number) => cells.slice(from, to).map((row) => row[3]);
      expect(below(1, 3).join(' ')).toBe(error);
      expect(below(4, 8).join(' ')).toMatch(/^(word )+.*…$/);
      expect(cells[8]?.[4]).toBe('-');
      expect(cells[9]?.slice(1, 5)).toEqual(['', '', 'no response', '']);
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60);
    });

    it.each([
      ['transit/encrypt/orders', '…/encrypt/orders'],
      ['transit/decrypt/orders', '…/decrypt/orders'],
      ['teams/payments/rewrap/orders', '…/rewrap/orders'],
      ['transit/datakey/plaintext/orders', '…/plaintext/orders'],
      ['transit/export/signing-key/orders', '…signing-key/orders'],
      ['transit/keys/orders/config', '…/orders/config'],
      ['transit/sign/orders', 'transit/sign/orders'],
      ['transit/decrypt/the-orders-of-every-customer', '…/decrypt/the-…omer'],
      [`${'x'.repeat(40)}/${'y'.repeat(40)}`, `…${'y'.repeat(18)}`],
      ['z'.repeat(40), `…${'z'.repeat(18)}`],
    ])('shows at 60 columns what was done with which key: %s', async (path, cell) => {
      expect((await drawn(60, '', [record(path)]))[3]).toContain(`│ ${cell} `);
    });

    it.each(['read', 'list', 'create', 'delete'])(
      'names an operation that a path does not say at 60 columns: %s',
      async (operation) => {
        const request = { ...record('transit/keys/orders-of-2026').request, operation };
        const [line] = (await drawn(60, '', [record('transit/keys/orders', { request })])).slice(3);
        expect(line).toMatch(new RegExp(`│ ${operation} …\\S*26 +│`));
      },
    );

    it('shortens a path of a hundred thousand characters like any other, in time in proportion to it', async () => {
      const long = Array.from({ length: 20 }, (_, at) =>
        record(`transit/decrypt/${at}${'x'.repeat(100_000)}`),
      );
      const lines = await drawn(60, '', [...records, ...long]);
      expect(lines).toHaveLength(records.length + long.length + FRAME + SUMMARY);
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60);
    });

    it('says of a deletion that it is one, although the operations are left out', async () => {
      const request = { ...record('transit/keys/orders').request, operation: 'delete' };
      const text = (await drawn(60, '', [...records, record('transit/keys/orders', { request })])).join('\n');
      expect(text).not.toContain('Operation');
      expect(text).toMatch(/│ delete …\S*keys\/orders +│ ok +│/);
    });

    it('keeps the day of each request if there are several days', async () => {
      const two = [record('sys/mounts'), { ...record('sys/health'), time: '2026-03-01T12:00:00Z' }];
      const text = (await drawn(50, '', two)).join('\n');
      expect(text).toMatch(/│ 03-0\d \d\d:\d\d │/);
      expect(text).toContain('Local times; use -o wide for the full table');
    });

    it('leaves a wide terminal its full times and operations', async () => {
      const text = (await drawn(140)).join('\n');
      expect(text).toMatch(/│ Time \(local\) +│ User +│ Operation │ Path +│ Result +│/);
      expect(text).not.toContain('-o wide');
    });

    it('names a token without a name by its accessor, which may be a hash, and the user of a login', async () => {
      const hashed = { auth: { display_name: 'token', accessor: 'hmac-sha256:00c0ffee123456' } };
      const text = (await drawn(140, '', [...records, record('sys/mounts', hashed)])).join('\n');
      expect(text).toMatch(/│ token 9b567afb +│ update +│ transit\/encrypt/);
      expect(text).toMatch(/│ token 00c0ffee +│ update +│ sys\/mounts/);
      expect(text).toMatch(/│ ada +│ update +│ auth\/userpass\/login\/ada/);
      expect(text).toMatch(/│ - +│ update +│ auth\/userpass\/login\/eve/);
    });

    it('shows whole accessors and addresses with -o wide', async () => {
      const request = { ...record('sys/mounts').request, remote_address: '192.0.2.7' };
      const text = (await drawn(200, '-o wide', [record('sys/mounts', { request })])).join('\n');
      expect(text).toMatch(/│ token +│ .*│ 9b567afbXYZ0123456789abc +│ 192\.0\.2\.7 +│/);
    });
  });

  it('reads standard input, marks a request without a response, and warns of lines that are no records', async () => {
    const [first = ''] = readFileSync(file, 'utf8').split('\n');
    const { rows, err } = await shown('-', `${first}\nnonsense\n{"half": `);
    expect(rows.map((row) => row[4])).toEqual(['no response']);
    expect(err).toContain('2 lines are not audit records');
  });

  it('refuses a file without a single record, but not an empty one', async () => {
    const key = join(temporaryDirectory(cleaning), 'master.key');
    writeFileSync(key, 'BASE64\n');
    const advice = '(use the file that "coffer serve --audit-log FILE" writes)';
    expect(await shown(key)).toEqual({
      exitCode: 2,
      rows: [],
      err: `coffer: ${key} is not an audit log ${advice}\n`,
    });
    expect(await shown('-', 'BASE64\n')).toMatchObject({
      exitCode: 2,
      err: `coffer: the input is not an audit log ${advice}\n`,
    });
    expect(await shown('-', '')).toEqual({ exitCode: 0, rows: [], err: '' });
    expect(await shown('- --user eve', `BASE64\n${lineFor('sys/mounts')}`)).toMatchObject({
      exitCode: 0,
      err: expect.stringContaining('1 line is not an audit record'),
    });
  });

  it('takes no line for a record that lacks the time or the request, or is no object', async () => {
    const right = JSON.parse(lineFor('sys/mounts'));
    const wrong = [
      null,
      [],
      7,
      'text',
      { ...right, time: 7 },
      { ...right, request: 'sys' },
      { time: right.time },
    ];
    const lines = [...wrong, right].map((record) => JSON.stringify(record));
    expect(await shown('-', lines.join('\n'))).toMatchObject({
      exitCode: 0,
      rows: [expect.arrayContaining(['sys/mounts'])],
      err: expect.stringContaining(`${wrong.length} lines are not audit records`),
    });
  });

  it('counts a status of 400 and more as a failure, and one below as none', async () => {
    const lines = [200, 399, 400, 503].map((status) => {
      const record = JSON.parse(lineFor(`a/${status}`));
      return JSON.stringify({ ...record, response: { status } });
    });
    const results = async (options: string) =>
      (await shown(`-${options}`, lines.join('\n'))).rows.map((row) => row.slice(3));
    const failed = [
      ['a/400', 'status 400'],
      ['a/503', 'status 503'],
    ];
    expect(await results('')).toEqual([['a/200', 'ok'], ['a/399', 'ok'], ...failed]);
    expect(await results(' --failed')).toEqual(failed);
  });

  it('lets nothing that a client sent reach the terminal as a control sequence', async () => {
    const hostile = join(temporaryDirectory(), 'hostile.log');
    const request = { id: '1', operation: 'read', path: 'transit/\u001b[2Jkeys', remote_address: '' };
    writeFileSync(hostile, '');
    appendFileSync(hostile, `${JSON.stringify({ time: '2026-01-01T00:00:00Z', auth: {}, request })}\n`);
    const streams = streamsDouble({ terminals: ['out', 'err'], columns: 120 });
    await runCommandLine(['audit', 'show', hostile, '--no-color'], streams, {});
    expect(streams.written.out).not.toContain('\u001b[2J');
    expect(streams.written.out).toContain('no response');
  });

  it('counts a line that is longer than any record as none, and goes on behind it', async () => {
    const long = join(temporaryDirectory(), 'long.log');
    writeFileSync(long, '');
    truncateSync(long, 600 * 2 ** 20);
    const request = { id: '1', operation: 'read', path: 'transit/keys/a', remote_address: '' };
    appendFileSync(long, `\n${JSON.stringify({ time: '2026-01-01T00:00:00Z', auth: {}, request })}\n`);
    expect(await shown(long)).toMatchObject({
      exitCode: 0,
      rows: [expect.arrayContaining(['transit/keys/a'])],
      err: expect.stringContaining('1 line is not an audit record'),
    });
  });

  it('takes a time of the day as the last one: today, or yesterday if it is later than now', async () => {
    const minutes = (count: number) => new Date(Date.now() + count * 60_000);
    const clock = (at: Date) =>
      [at.getHours(), at.getMinutes()].map((part) => String(part).padStart(2, '0')).join(':');
    const yesterday = minutes(10);
    yesterday.setDate(yesterday.getDate() - 1);
    const log = join(temporaryDirectory(), 'clock.log');
    const at = (path: string, time: Date) =>
      lineFor(path).replace('2026-01-01T00:00:00Z', time.toISOString());
    writeFileSync(log, `${at('late', yesterday)}\n${at('early', minutes(-10))}\n`);
    const paths = async (options: string) =>
      (await shown(`${log} ${options}`)).rows.map(([, , , path]) => path);
    expect(await paths(`--since ${clock(minutes(5))}`)).toEqual(['late', 'early']);
    expect(await paths(`--since ${clock(minutes(-20))}`)).toEqual(['early']);
    expect(await paths(`--until ${clock(minutes(20))}`)).toEqual(['late']);
  });

  it('names a file that cannot be read, and a time that cannot be understood', async () => {
    expect(await shown('/nowhere/audit.log')).toMatchObject({
      exitCode: 2,
      err: 'coffer: FILE: cannot read /nowhere/audit.log: no such file\n',
    });
    expect(await shown(dirname(file))).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining(': is a directory'),
    });
    for (const time of ['soon', '24:00', '22:60', '22', '22:00:00'])
      expect(await shown(`${file} --since ${time}`), time).toMatchObject({
        exitCode: 2,
        err: expect.stringContaining(`--since: invalid time "${time}" (use a duration`),
      });
  });
});
