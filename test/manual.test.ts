import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { manualPages } from '../scripts/manual/pages.ts';
import { escaped, filled, item, page, shown } from '../scripts/manual/roff.ts';
import { OTHER_WORDS, topics } from '../src/cli/commands/help.ts';
import { type CommandPlace, placesOf } from '../src/cli/completions/model.ts';
import { withNotes } from '../src/cli/terminal/help-page.ts';
import { topicPages } from '../src/cli/topics/registry.ts';
import type { Topic } from '../src/cli/topics/topic.ts';
import { commandTree } from '../src/cli/tree.ts';
import { emptyPlace } from './e2e/harness.ts';

/** What a reader sees of a page: roff without its notation, on one line. */
const read = (text: string): string =>
  text
    .replace(/^\.(?:[A-Z]{2}|fi|nf|\\").*$/gm, '')
    .replace(/\\f[BIR]|\\&/g, '')
    .replaceAll('\\(aq', "'")
    .replaceAll('\\(ga', '`')
    .replaceAll('\\(ha', '^')
    .replaceAll('\\(ti', '~')
    .replaceAll('\\-', '-')
    .replace(/\\\[u([0-9A-F]{4,6})\]/g, (_, digits: string) =>
      String.fromCodePoint(Number.parseInt(digits, 16)),
    )
    .replaceAll('\\e', '\\')
    .replace(/\s+/g, ' ');

const nameOf = (path: string): string => `${['coffer', ...path.split(' ')].filter(Boolean).join('-')}.1`;
const edition = { version: '1.2.3', epoch: 86400 };
let pages: ReadonlyMap<string, string>;
let places: readonly CommandPlace[];

beforeAll(async () => {
  places = await placesOf(commandTree);
  pages = await manualPages(edition);
});

describe('text in roff', () => {
  it.each([
    ['a backslash', 'C:\\new', 'C:\\enew'],
    ['a dash', '--in FILE', '\\-\\-in FILE'],
    ['quotes that are typed', "printf '%s' `id`", 'printf \\(aq%s\\(aq \\(gaid\\(ga'],
    ['what would be an accent', '~/a^b', '\\(ti/a\\(hab'],
  ])('keeps %s as it is', (_, text, roff) => {
    expect(escaped(text)).toBe(roff);
  });

  it('begins no line with what would be a request', () => {
    expect(filled('.env and more')).toEqual(['\\&.env and more']);
    expect(shown(["'tis", '.TH', 'x'])).toEqual([
      '.PP',
      '.RS 4',
      '.nf',
      '\\(aqtis',
      '\\&.TH',
      'x',
      '.fi',
      '.RE',
    ]);
    expect(item('.env', 'A file.')).toEqual(['.TP', '\\&.env', 'A file.']);
    const lines = filled('word '.repeat(14) + '.hidden '.repeat(20));
    expect(lines.length).toBeGreaterThan(2);
    expect(lines.filter((line) => /^[.']/.test(line))).toEqual([]);
  });

  it('has no paragraph of its own behind a heading, and says when and of which version it is', () => {
    const text = page({ name: 'x-y', section: 5 }, edition, 'what it is', [
      '.SH "A"',
      '.PP',
      'b',
      '.PP',
      'c',
    ]);
    expect(text).toContain(
      '.TH "X\\-Y" 5 1970-01-02 "coffer 1.2.3" "Coffer"\n.SH "NAME"\nx\\-y \\- what it is\n',
    );
    expect(text).toMatch(/\.SH "A"\nb\n\.PP\nc\n$/);
  });
});

const fileOfTopic = ({ page: name, section = 5 }: Topic): string => `${name}.${section}`;

describe('the manual', () => {
  it('has a page for every command, group and topic, and for age-plugin-coffer', () => {
    const names = [
      ...places.map(({ path }) => nameOf(path)),
      'age-plugin-coffer.1',
      ...topicPages.map(fileOfTopic),
    ];
    expect([...pages.keys()].sort()).toEqual(names.sort());
    expect(pages.size).toBeGreaterThan(150);
  });

  it('says of each command what its help says', () => {
    for (const { path, command, arguments: specs, options } of places) {
      if (command === undefined) continue;
      const text = read(pages.get(nameOf(path)) ?? '');
      const own = options.filter(({ flag }) => command.options.some((option) => option.flag === flag));
      for (const spec of [...specs, ...own]) {
        expect(text, path).toContain(withNotes(spec.help, spec).replace(/\s+/g, ' '));
      }
      for (const { flag } of options) expect(text, path).toContain(`--${flag}`);
      for (const [example] of command.examples) expect(text, path).toContain(example.replace(/\s+/g, ' '));
      if (command.details !== undefined) expect(text, path).toContain(command.details);
    }
  });

  it('refers to no page that there is not', () => {
    const known = new Set(pages.keys());
    const strangers = [...pages].flatMap(([name, text]) =>
      [...text.matchAll(/\\fB([\w\\-]+)\\fR\((\d)\)/g)]
        .map(([, to = '', section]) => `${to.replaceAll('\\', '')}.${section}`)
        .filter((to) => !known.has(to))
        .map((to) => `${name}: ${to}`),
    );
    expect(strangers).toEqual([]);
  });
});

describe('coffer help on a topic', () => {
  it('is found by the words that people try', async () => {
    const place = emptyPlace();
    expect(await place.ok('help forgotten')).toBe(await place.ok('help unlocking'));
    expect(await place.ok('help uninstalling')).toBe(await place.ok('help store-format'));
    for (const words of ['ci', 'CI', 'scripts', 'github actions', 'gitlab-ci'])
      expect(await place.ok(`help ${words}`)).toContain('coffer exec -f app.env -- ./deploy');
    expect(await place.ok('help exit codes')).toBe(await place.ok('help exit-codes'));
  });

  it('is suggested for a word nearly like those that people try', async () => {
    const place = emptyPlace();
    for (const [word, topic] of [
      ['pipelne', 'pipelines'],
      ['scrpts', 'pipelines'],
      ['keyrin', 'sharing'],
    ])
      expect(await place.refused(`help ${word}`, 2)).toMatch(
        new RegExp(`did you mean "(coffer help )?${topic}"`),
      );
  });

  it('has only commands for pipelines that the tested page has', () => {
    const topic = topicPages.find(({ name }) => name === 'pipelines');
    const text = readFileSync(new URL('../docs/scripts-and-ci.md', import.meta.url), 'utf8');
    const onPage = text.replace(/\s*\\\n\s*/g, ' ').replaceAll('secrets/production.env', 'app.env');
    const lines = topic?.parts.flatMap(({ blocks }) =>
      blocks.flatMap((block) => (typeof block !== 'string' && 'lines' in block ? block.lines : [])),
    );
    const commands = lines?.map((line) => line.split('  #')[0]?.trim() ?? '') ?? [];
    expect(commands.length).toBeGreaterThan(10);
    expect(
      commands.filter((command) => !onPage.includes(command.replace('--out app.env', '--out '))),
    ).toEqual([]);
  });

  it('never hides the help of a command with such a word', () => {
    const words = new Set(places.flatMap(({ path }) => path.split(' ')));
    const others = Object.values(OTHER_WORDS).flat();
    expect(others.filter((word) => words.has(word) || topics.has(word))).toEqual([]);
  });

  it.each(topicPages.map(({ name }) => [name]))(
    'says of %s what the manual says, on lines that fit',
    async (name) => {
      const topic = topicPages.find((each) => each.name === name);
      const said = await emptyPlace().ok(`help ${name}`);
      const text = read(pages.get(topic === undefined ? '' : fileOfTopic(topic)) ?? '');
      for (const { heading, blocks } of topic?.parts ?? []) {
        expect(said).toContain(`\n${heading}:\n`);
        for (const block of blocks) {
          const words =
            typeof block === 'string' ? [block] : 'lines' in block ? block.lines : block.terms.flat();
          for (const word of words) {
            expect(said.replace(/\s+/g, ' ')).toContain(word.replace(/\s+/g, ' ').trim());
            expect(text).toContain(word.replace(/\s+/g, ' ').trim());
          }
        }
      }
      const filledLines = said
        .split('\n')
        .filter((line) => !line.startsWith('    ') || line.startsWith('      '));
      expect(filledLines.filter((line) => line.length > 80)).toEqual([]);
    },
  );
});
