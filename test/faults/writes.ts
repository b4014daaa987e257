import { readFileSync } from 'node:fs';
import { fileAt, pictureOf } from './picture.ts';
import type { Sandbox } from './sandbox.ts';

/** One command that writes, and what of it can be seen from outside. */
export interface Write {
  readonly name: string;
  readonly words: (box: Sandbox) => readonly string[];
  readonly input?: string;
  /** Everything that the command may change, as text. The store by default. */
  readonly look?: (box: Sandbox) => Promise<string>;
  /** The directory of the store that the command works on or makes. */
  readonly store?: (box: Sandbox) => string;
  /** Doing it again changes nothing more. */
  readonly isRepeatable?: boolean;
  /** What it prints, it prints before anything is made. */
  readonly printsFirst?: boolean;
  /** It has done what it was asked to before it clears away, and a failure of that is not told. */
  readonly cleansLater?: boolean;
  /** It changes a file beside the store, and nothing in it. */
  readonly leavesStore?: boolean;
  /** A key that it makes. */
  readonly key?: string;
}

export const storeOf = (write: Write, box: Sandbox): string => write.store?.(box) ?? box.store;
export const lookAt = (write: Write, box: Sandbox): Promise<string> =>
  write.look?.(box) ?? pictureOf(storeOf(write, box));

const plain = (line: string, more: Omit<Write, 'name' | 'words'> = {}): Write => ({
  name: line,
  words: () => line.split(' '),
  ...more,
});

/** Of a command that writes a file beside the store. */
const withFile = (name: string): Pick<Write, 'look' | 'leavesStore'> => ({
  look: async (box) => `${fileAt(box.at(name))} ${await pictureOf(box.store)}`,
  leavesStore: true,
});

const other = (box: Sandbox): string => box.at('other');

export const keyWrites: readonly Write[] = [
  plain('transit keys create fresh', { key: 'fresh' }),
  plain('transit keys rotate orders'),
  plain('transit keys config orders --min-decryption-version 3 --min-encryption-version 4'),
  plain('transit keys trim orders --min-available-version 2 --yes'),
  plain('transit keys delete orders --yes'),
  plain('transit encrypt unheard-of text', { key: 'unheard-of' }),
  {
    name: 'transit restore orders --force',
    words: (box) => ['transit', 'restore', 'orders', '--force', '--in', box.at('key.backup')],
  },
  plain('transit cache-config --size 500'),
  plain('mounts add letters --dialect vault'),
  plain('mounts remove payments --yes'),
];

export const peopleWrites: readonly Write[] = [
  plain('orgs create umbrella'),
  plain('orgs delete acme --yes', { look: organizationsOf, cleansLater: true }),
  plain('tags create violet indigo'),
  plain('tags attach blue --workspace alpha beta'),
  plain('tags detach red --workspace alpha beta'),
  plain('tags delete red green blue --yes'),
  plain('workspaces create gamma --tag red newborn'),
  plain('workspaces delete alpha --yes'),
  {
    name: 'policy write senders FILE',
    words: (box) => ['policy', 'write', 'senders', box.at('other-policy.hcl')],
  },
  plain('policy delete senders --yes'),
  plain('token create --policy senders --ttl 1h'),
];

export const storeWrites: readonly Write[] = [
  { name: 'init', words: (box) => ['init', '--store', other(box)], store: other },
  {
    name: 'init --dialect vault',
    words: (box) => ['init', '--dialect', 'vault', '--store', other(box)],
    store: other,
  },
  plain('rekey'),
  plain('slots add --raw --label spare', { printsFirst: true }),
  {
    name: 'slots remove',
    words: (box) => ['slots', 'remove', readFileSync(box.at('second-slot'), 'utf8'), '--yes'],
  },
  {
    name: 'store backup FILE',
    words: (box) => ['store', 'backup', box.at('new.backup')],
    ...withFile('new.backup'),
  },
  {
    name: 'store restore FILE',
    words: (box) => ['store', 'restore', box.at('store.backup'), '--store', other(box)],
    store: other,
  },
  { name: 'store copy', words: (box) => ['store', 'copy', box.store, other(box)], store: other },
];

export const fileWrites: readonly Write[] = [
  {
    name: 'encrypt --out, in place of an older file',
    words: (box) => ['transit', 'encrypt', 'letters', 'hello', '--out', box.at('ciphertext'), '--force'],
    ...withFile('ciphertext'),
  },
  {
    name: 'encrypt --batch --out',
    words: (box) => ['transit', 'encrypt', 'letters', '--batch', '-', '--out', box.at('results')],
    input: Array.from(
      { length: 50 },
      (_, i) => `{"plaintext":"${Buffer.from(`item ${i}`).toString('base64')}"}\n`,
    ).join(''),
    ...withFile('results'),
  },
  {
    name: 'keygen --out',
    words: (box) => ['keygen', '--out', box.at('master.key')],
    ...withFile('master.key'),
  },
  {
    name: 'envelope encrypt --out',
    words: (box) => [...envelope('encrypt', 'letters'), '--in', box.at('letter'), '--out', box.at('sealed')],
    ...withFile('sealed'),
  },
  {
    name: 'envelope decrypt --out',
    words: (box) => [
      ...envelope('decrypt', 'letters'),
      '--in',
      box.at('envelope'),
      '--out',
      box.at('opened'),
    ],
    ...withFile('opened'),
  },
  {
    name: 'envelope rewrap',
    words: (box) => [...envelope('rewrap', 'letters'), '--in', box.at('envelope')],
    look: envelopePicture,
    leavesStore: true,
    isRepeatable: true,
  },
];

const envelope = (...words: readonly string[]): readonly string[] => ['transit', 'envelope', ...words];

/** What an organization leaves behind when it is deleted is cleared away later; what counts is what anybody can reach. */
async function organizationsOf(box: Sandbox): Promise<string> {
  const answers: string[] = [];
  for (const what of ['orgs', 'workspaces', 'tags']) {
    const { exitCode, stdout } = await box.run([what, 'list', '-o', 'json']);
    answers.push(`${exitCode} ${stdout}`);
  }
  return answers.join('\n');
}

const TORN_HEADER = 'a rewrap was interrupted (rewrap the file to repair its header)';

/**
 * A header that is rewritten in place passes through states of its own; what counts is what it opens to. Where a slot was written
 * by half, it says so, and the same command repairs it.
 */
async function envelopePicture(box: Sandbox): Promise<string> {
  const file = ['--in', box.at('envelope')];
  const open = [...envelope('decrypt', 'letters'), ...file];
  if ((await box.run(open)).stderr.includes(TORN_HEADER))
    await box.ok([...envelope('rewrap', 'letters'), ...file]);
  const header = JSON.parse(await box.ok([...envelope('header'), ...file, '-o', 'json']));
  return `${await box.ok(open)} under version ${header.key_version}`;
}
