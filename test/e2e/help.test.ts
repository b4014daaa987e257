import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Command, type Group, isGroup } from '../../src/cli/command.ts';
import { runCommandLine } from '../../src/cli/command-line.ts';
import { everywhereOptions } from '../../src/cli/parse/everywhere.ts';
import { parseQuickly } from '../../src/cli/parse/fast-path.ts';
import { parseWithCommander } from '../../src/cli/parse/program.ts';
import { examplesText } from '../../src/cli/terminal/help-page.ts';
import { commandTree } from '../../src/cli/tree.ts';
import { type StreamsSetup, streamsDouble } from '../cli/streams.double.ts';
import { emptyPlace } from './harness.ts';

interface Place {
  readonly path: readonly string[];
  readonly summary: string;
  /** Undefined for a group. */
  readonly command?: Command;
}

const places: Place[] = [];
const here = emptyPlace();

async function collect(group: Group, path: readonly string[]): Promise<void> {
  places.push({ path, summary: group.summary });
  for (const [word, node] of Object.entries(group.children)) {
    const inner = [...path, word];
    if (isGroup(node)) await collect(node, inner);
    else if (node.hidden !== true)
      places.push({ path: inner, summary: node.summary, command: await node.load() });
  }
}

/** Help on a terminal of that width. */
const helpAt = async (path: readonly string[], columns: number, colour = false): Promise<string> => {
  const streams = streamsDouble({ terminals: ['out'], columns });
  const outcome = await parseWithCommander([...path, '--help'], commandTree, streams, colour);
  return outcome.kind === 'print' ? outcome.text : '';
};

const helpOf = async (path: readonly string[]): Promise<string> => {
  const outcome = await parseWithCommander([...path, '--help'], commandTree, streamsDouble());
  return outcome.kind === 'print' ? outcome.text : '';
};

beforeAll(() => collect(commandTree, []));

describe('coffer --help', () => {
  it('is no answer where the exit code is one: a script may have been given it as a value', async () => {
    for (const value of ['--help', '-h']) {
      const line = ['transit', 'verify', 'orders', value, '--signature', 'service:v1:AAAA'];
      await expect(parseWithCommander(line, commandTree, streamsDouble())).rejects.toMatchObject({
        kind: 'invalid',
        message: '--help cannot be combined with other options',
      });
    }
    expect(await helpOf(['transit', 'verify', 'orders'])).toContain('Usage: coffer transit verify');
    const value = ['transit', 'verify', 'orders', '--signature', 'service:v1:AAAA', '--', '--help'];
    expect(await parseWithCommander(value, commandTree, streamsDouble())).toMatchObject({
      invocation: { given: { arguments: ['orders', '--help'] } },
    });
  });

  it('breaks neither usage nor examples within a word on a narrow terminal', async () => {
    const columns = 60;
    for (const { path, command } of places) {
      const lines = (await helpAt(path, columns)).split('\n');
      const start = lines.indexOf('');
      const usage = lines.slice(0, start);
      expect(usage.join('\n').replace(/\n +/g, ' '), path.join(' ')).toBe(
        (await helpOf(path)).split('\n')[0],
      );
      const examples = lines.slice(lines.indexOf('Examples:'));
      const comments = command === undefined ? [] : examples.filter((line) => line.startsWith('  # '));
      expect([...usage, ...comments].filter((line) => line.length > columns)).toEqual([]);
      if (command === undefined || command.examples.length === 0) continue;
      const text = examples.join('\n');
      // What a shell makes of a line that ends in a backslash.
      const pasted = text.replaceAll(/ \\\n {4}/g, ' ').replaceAll('\n  ', '\n');
      for (const [example] of command.examples) expect(pasted).toContain(example);
    }
  });

  it('breaks a long example only where a shell reads the same command', async () => {
    const page = await helpAt(['secrets', 'get'], 40);
    expect(page).toContain('\n  coffer secrets get prod.yaml tls.key \\\n    --out tls.key\n');
    const command = `printf '%s\\n' "one  two" three\\ four 'five six seven' eight nine ten`;
    const examples = [[command, 'Print']] as const;
    const text = examplesText(examples, { isBold: false, columns: 24 });
    const broken = text.slice(text.indexOf('printf'));
    expect(broken.split('\n').length).toBeGreaterThan(3);
    const print = (script: string) => spawnSync('sh', ['-c', script], { encoding: 'utf8' }).stdout;
    expect(print(broken)).toBe(print(command));
    const document = [['cat <<E\na very long line that nothing may break\nE', 'Print']] as const;
    expect(examplesText(document, { isBold: false, columns: 20 })).not.toContain('\\');
  });

  it('has bold headings on a terminal with colours, and the same bytes as ever in a pipe', async () => {
    const bold = await helpAt(['secrets', 'get'], 80, true);
    for (const title of ['Usage:', 'Arguments:', 'Options:', 'Global options:', 'Examples:'])
      expect(bold).toContain(`\u001b[1m${title}\u001b[22m`);
    for (const path of [[], ['transit'], ['secrets', 'get']]) {
      const colourful = await helpAt(path, 100, true);
      expect(colourful).toContain('\u001b[1m');
      expect(stripVTControlCharacters(colourful)).toBe(await helpAt(path, 100));
      const outcome = await parseWithCommander([...path, '--help'], commandTree, streamsDouble(), true);
      expect(outcome).toMatchObject({ kind: 'print', text: await helpOf(path) });
    }
    expect(await helpOf(['secrets', 'get'])).not.toContain('\u001b');
    for (const [more, environment] of [
      [[], { NO_COLOR: '1' }],
      [['--no-color'], {}],
      [[], { TERM: 'dumb' }],
    ] as const) {
      const streams = streamsDouble({ terminals: ['out', 'err'] });
      await runCommandLine([...more, 'secrets', 'get', '--help'], streams, environment);
      expect(streams.written.out).toContain('Usage: coffer secrets get');
    }
    const streams = streamsDouble({ terminals: ['out', 'err'] });
    await runCommandLine(['help', 'secrets', 'get'], streams, {});
    expect(streams.written.out).toContain('\u001b[1mUsage:\u001b[22m coffer secrets get');
  });

  it('names no option in the help of a switch that the command does not have', async () => {
    const backup = await here.ok('store backup --help');
    expect(backup).toContain('Overwrite FILE if it exists.');
    expect(backup).not.toContain('--out ');
  });

  it('has bold headings of topics on a terminal, also those of two lines', async () => {
    const topicAt = async (topic: string, setup: StreamsSetup) => {
      const streams = streamsDouble(setup);
      await runCommandLine(['help', topic], streams, {});
      return streams.written.out;
    };
    const narrow = { terminals: ['out', 'err'], columns: 60 } as const;
    expect(await topicAt('unlocking', narrow)).toContain(
      '\n\u001b[1mWhat unlocks a store:\u001b[22m\n  A store can',
    );
    const variables = (await topicAt('environment', narrow))
      .replaceAll('\u001b[1m', '<b>')
      .replaceAll('\u001b[22m', '</b>');
    expect(variables).toMatch(/^<b>Secrets that .*<\/b>\n<b>.*:<\/b>\n {2}/);
    for (const topic of ['unlocking', 'environment', 'options', 'exit-codes', 'secrets-format'])
      expect(await topicAt(topic, {})).not.toContain('\u001b');
  });

  it('is there for every command and group, and starts with its summary', async () => {
    for (const { path, summary } of places) {
      const help = (await helpOf(path)).replace(/\s+/g, ' ');
      expect(summary, path.join(' ')).not.toBe('');
      expect(help, path.join(' ')).toContain(`Usage: coffer ${path.join(' ')}`.trim());
      expect(help, path.join(' ')).toContain(summary);
    }
  });

  it('fits a screen of 50 lines and 80 columns, and names every command in one section', async () => {
    const page = await helpOf([]);
    const lines = page.split('\n').slice(0, -1);
    expect(lines.at(-1)).not.toBe('');
    expect(lines.length).toBeLessThanOrEqual(50);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    const sections = commandTree.sections ?? [];
    const visible = Object.entries(commandTree.children).filter(([, node]) => isGroup(node) || !node.hidden);
    const words = sections.flatMap(({ listed, named }) => [...listed, ...named]);
    expect(words.toSorted()).toEqual(visible.map(([word]) => word).toSorted());
    const flat = page.replace(/\s+/g, ' ');
    for (const { title, listed, named } of sections) {
      expect(page).toContain(`\n${title}:\n`);
      for (const word of listed) expect(flat).toContain(`${word} ${commandTree.children[word]?.summary}`);
      if (named.length > 0) expect(flat).toContain(`also: ${named.join(', ')}`);
    }
  });

  it('explains the options of every command on a page of their own', async () => {
    const page = await here.ok('help options');
    for (const { flag, help } of everywhereOptions) {
      expect(page).toContain(`--${flag}`);
      expect(page.replace(/\s+/g, ' ')).toContain(help);
      expect(await helpOf(['transit', 'keys', 'read'])).toContain(`--${flag}`);
    }
    expect(page.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it('shows the arguments and options of every command, each with a text', async () => {
    for (const { path, command } of places) {
      if (command === undefined) continue;
      const help = await helpOf(path);
      for (const { flag, help: text } of command.options) {
        expect(help, path.join(' ')).toContain(`--${flag}`);
        expect(text, `${path.join(' ')} --${flag}`).not.toBe('');
      }
      for (const { metavar } of command.arguments) expect(help, path.join(' ')).toContain(metavar);
    }
  });

  it('has two examples or more for the commands that are used most, and all examples can be typed', async () => {
    let lines = 0;
    for (const { path, command } of places) {
      for (const [example] of command?.examples ?? []) {
        for (const argv of commandLines(example)) {
          lines++;
          const invocation = await parseQuickly(argv, commandTree);
          expect(invocation, example).toBeDefined();
          if (path[0] !== 'completion') expect(invocation?.path, example).toBeDefined();
        }
      }
    }
    expect(lines).toBeGreaterThan(60);
    for (const name of ['encrypt', 'decrypt', 'sign', 'verify']) {
      const { command } = places.find(({ path }) => path.join(' ') === `transit ${name}`) ?? {};
      expect(command?.examples.length, name).toBeGreaterThanOrEqual(2);
    }
  });

  it('has an example for every command', () => {
    const without = places.filter(({ command }) => command !== undefined && command.examples.length === 0);
    expect(without.map(({ path }) => path.join(' '))).toEqual([]);
  });

  it('prints the same for "help COMMAND", no command at all, and a group without a command', async () => {
    expect(await here.ok('help transit keys trim')).toBe(await here.ok('transit keys trim --help'));
    expect(await here.ok([])).toBe(await here.ok('--help'));
    expect(await here.ok('transit keys')).toBe(await here.ok('transit keys --help'));
    expect(await here.ok('help')).toBe(await here.ok('--help'));
    expect(await here.ok('help topics')).toBe(await here.ok('help --help'));
  });

  it('prints the help of the only command or group of a name, and names several', async () => {
    expect(await here.ok('help keys')).toBe(await here.ok('transit keys --help'));
    expect(await here.refused('help rotate', 2)).toContain(
      '"coffer transit keys rotate" or "coffer team key',
    );
    expect(await here.refused('help --all', 2)).toContain('"coffer --help" lists the commands');
  });

  it('has topics: every variable that the command reads, and every exit code', async () => {
    const environment = await here.ok('help environment');
    const cli = fileURLToPath(new URL('../../src/cli', import.meta.url));
    const sources = readdirSync(cli, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => readFileSync(join(cli, path), 'utf8'));
    const read = new Set(sources.join('').match(/COFFER_[A-Z_]+/g));
    for (const name of read) expect(environment).toContain(name);
    const codes = await here.ok('help exit-codes');
    for (const code of [0, 1, 2, 3, 4, 5]) expect(codes).toMatch(new RegExp(`^ +${code} `, 'm'));
    expect(await here.refused('help nothing-like-it', 2)).toContain('nothing-like-it');
  });
});

/** The command lines of coffer in an example, which may be a pipeline, an assignment or a condition. */
function commandLines(example: string): string[][] {
  return [...example.matchAll(/(?<![\w./-])coffer ((?:"[^"]*"|'[^']*'|[^"'|;)&<>])*)/g)].map(
    ([, line = '']) =>
      [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
        ([, double, single, plain]) => double ?? single ?? plain ?? '',
      ),
  );
}

describe('coffer --version', () => {
  it('prints the version of the package', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(await here.spawned.ok('--version')).toBe(`coffer ${version}`);
    expect(await here.spawned.ok('-V')).toBe(`coffer ${version}`);
  });

  it('is what the command "version" prints, as a text or as a document', async () => {
    expect(await here.ok('version')).toBe(await here.ok('--version'));
    expect(await here.json('version')).toEqual({
      version: (await here.ok('--version')).replace('coffer ', ''),
    });
  });
});

describe('mistakes in the usage', () => {
  it.each([
    ['a command that there is not', 'trnsit', ['trnsit', 'transit', '--help']],
    [
      'a command that there is not, in a group',
      'transit encript x',
      ['encript', 'encrypt', 'coffer transit --help'],
    ],
    ['an option that there is not', 'transit encrypt x --contxt y', ['--contxt', '--context']],
    ['an option without its value', 'transit encrypt x --context', ['--context']],
    ['an argument too many', 'transit keys read a b', ['coffer transit keys read --help']],
    ['an argument too few', 'transit keys read', ['NAME', 'coffer transit keys read --help']],
    [
      'a store and a server at once',
      '--store a status --address http://127.0.0.1:1',
      ['--store', '--address'],
    ],
    ['two tokens', 'status --token a --token-file b', ['--token', '--token-file']],
  ])('%s: one line that says what and where to read on', async (_, line, parts) => {
    const message = await here.refused(line, 2);
    for (const part of parts) expect(message).toContain(part);
  });

  it('shows no stack, unless COFFER_DEBUG asks for it', async () => {
    const environment = { COFFER_MASTER_KEY: 'x', COFFER_DEBUG: '1' };
    const { stderr } = await here.run('init', { environment });
    expect(stderr).toContain('    at ');
    expect((await here.run('init', { environment: { COFFER_MASTER_KEY: 'x' } })).stderr).not.toContain(
      '    at ',
    );
  });
});
