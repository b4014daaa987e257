import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommandLine } from '../../src/cli/command-line.ts';
import { promptsDouble, type StreamsSetup, streamsDouble } from '../cli/streams.double.ts';
import { startServerProcess } from '../servers/server-process.ts';
import { binary, emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';
import { canUseTerminals, NO_AGENT, onTerminal } from './terminal.ts';

const RED = '\x1b[31mcoffer:\x1b[39m ';
const YELLOW = '\x1b[33mcoffer: warning:\x1b[39m ';
const ESCAPE = '\x1b[';

let here: Place;
beforeAll(async () => {
  here = emptyPlace().with({ COFFER_MASTER_KEY: MASTER_KEY });
  for (const line of ['init', 'transit keys create orders']) await here.ok(line);
});
afterAll(() => removePlace(here));

async function said(
  line: string,
  environment: Readonly<Record<string, string>> = {},
  terminals: StreamsSetup['terminals'] = ['in', 'out', 'err'],
): Promise<string> {
  const streams = streamsDouble({ terminals, columns: 200 });
  await runCommandLine(line.split(' '), streams, here.environment(environment), promptsDouble([true]));
  return streams.written.err;
}

describe('a message on a terminal', () => {
  it('is red at its beginning for an error, and yellow for a warning', async () => {
    expect(await said('transit keys read nowhere')).toMatch(RED);
    expect(await said('nonsense')).toMatch(`${RED}unknown command`);
    expect(await said('write transit/keys/orders')).toMatch(YELLOW);
  });

  it('is plain for what was done', async () => {
    const text = await said('transit keys create invoices');
    expect(text).toContain('invoices');
    expect(text).not.toContain(ESCAPE);
  });

  it.each<[string, Record<string, string>]>([
    ['transit keys read nowhere', { NO_COLOR: '1' }],
    ['transit keys read nowhere', { TERM: 'dumb' }],
    ['transit keys read nowhere --no-color', {}],
    ['nonsense --no-color', {}],
    ['write transit/keys/orders --no-color', {}],
  ])('is plain where colour is not wanted: %s %j', async (line, environment) => {
    const text = await said(line, environment);
    expect(text).toContain('coffer: ');
    expect(text).not.toContain(ESCAPE);
  });

  it('is plain in a pipe', async () => {
    expect(await said('transit keys read nowhere', {}, ['out'])).not.toContain(ESCAPE);
  });
});

describe.skipIf(!canUseTerminals)('an answer at a prompt', () => {
  it('has no check mark, right or wrong', async () => {
    const bare = here.with({ COFFER_MASTER_KEY: undefined, COFFER_STORE: here.file('asked') });
    await bare.with({ COFFER_NEW_PASSPHRASE: 'correct horse battery' }).ok('init --passphrase');
    const wrong = onTerminal(bare, 'coffer transit keys list', {
      steps: [
        ['Passphrase', 'wrong\r'],
        ['Wrong passphrase[^$]*Passphrase', 'correct horse battery\r'],
        NO_AGENT,
      ],
    });
    expect(wrong.exitCode).toBe(0);
    expect(wrong.screen).not.toContain('\u2714');
    await here.ok('transit keys config orders --deletion-allowed');
    const refused = onTerminal(here, 'coffer transit keys delete orders', {
      steps: [['Permanently delete', 'n\r']],
    });
    expect(refused.text).toContain('No changes made.');
    expect(refused.screen).not.toContain('\u2714');
  });
});

describe.skipIf(process.platform !== 'linux')('a server', () => {
  it('is called coffer in the list of processes', async () => {
    const running = await startServerProcess([binary, 'serve', '--listen', '127.0.0.1:0', '-q'], {
      directory: here.directory,
      environment: here.environment(),
    });
    try {
      expect(readFileSync(`/proc/${running.child.pid}/comm`, 'utf8')).toBe('coffer\n');
      expect(readFileSync(`/proc/${running.child.pid}/cmdline`, 'utf8')).toContain('serve');
    } finally {
      await running.stop();
    }
  });
});
