import { alternatives } from '../../ground/alternatives.ts';
import { asCofferError, invalid, throwing, withOtherHint } from '../../ground/errors.ts';
import { nearest } from '../../ground/nearness.ts';
import { backendEnvironments, locationForms } from '../../store/backends/registry.ts';
import { argument, type Command, type Group, isGroup, nodeAt } from '../command.ts';
import { DONE, exitCodeMeanings } from '../exit-codes.ts';
import { everywhereOptions } from '../parse/everywhere.ts';
import { optionTerm, parseWithCommander } from '../parse/program.ts';
import { suggestionFor } from '../parse/suggestion.ts';
import { unlockSources } from '../secrets/secret-sources.ts';
import { type HelpLook, heading, withNotes } from '../terminal/help-page.ts';
import { topicPages } from '../topics/registry.ts';
import { MOST_COLUMNS, topicText } from '../topics/topic.ts';
import { wrapped } from '../wrap.ts';

/** Returns `coffer help` for a command tree. */
export function helpOn(tree: Group): Command {
  const commands = Object.entries(tree.children)
    .filter(([, node]) => isGroup(node) || node.hidden !== true)
    .map(([word]) => word);
  return {
    arguments: [
      argument(
        'TOPIC',
        `Command, e.g. "transit encrypt" (${commands.join(', ')}), or topic: ${[...topics.keys()].join(', ')}.`,
        { required: false, many: true, choices: [...commands, ...topics.keys()] },
      ),
    ],
    options: [],
    examples: [
      ['coffer help transit encrypt', 'Same as "coffer transit encrypt --help"'],
      ['coffer help environment', 'List the environment variables that Coffer reads'],
    ],
    async run({ streams, colour }, { arguments: typed }) {
      const words = typed.join(' ') === LIST ? [HELP] : typed;
      const wanted = words.join(' ');
      const topic = topics.get(topicOf(words) ?? '');
      if (topic !== undefined) {
        const { columns, isTerminal } = streams.out;
        const text = topic(columns, isTerminal ? columns : undefined);
        streams.out.write(withHeadings(text, { isBold: colour, columns }));
        return DONE;
      }
      // For unknown words, commander suggests similar commands.
      const place = nodeAt(tree, words) === undefined ? onlyPlaceOf(tree, words) : words;
      const argv = place === undefined ? words : [...place, '--help'];
      const outcome = await parseWithCommander(argv, tree, streams, colour).catch(
        throwing((error) => aboutTopic(error, wanted)),
      );
      if (outcome.kind === 'run') throw invalid(`no help topic "${words.join(' ')}"`);
      streams.out.write(outcome.text);
      return DONE;
    },
  };
}

/** Returns the error about a word that is neither a command nor a topic, with the near topic or where all are listed. */
function aboutTopic(error: unknown, wanted: string): unknown {
  const known = asCofferError(error);
  if (known?.message.startsWith('unknown command ') !== true || known.hint?.startsWith('see ') !== true)
    return error;
  const near = nearest(wanted, [...topics.keys(), ...OTHER_NAMES.keys()]);
  const meant = new Set(near.map((word) => `"coffer help ${OTHER_NAMES.get(word) ?? word}"`));
  return withOtherHint(
    known,
    meant.size > 0
      ? `did you mean ${alternatives([...meant])}?`
      : '"coffer --help" lists the commands, "coffer help help" the topics',
  );
}

/** Returns the path of the only command or group of that name below the top, e.g. `transit keys` for `keys`. */
function onlyPlaceOf(tree: Group, [word = '', ...others]: readonly string[]): readonly string[] | undefined {
  const [place, ...more] = others.length > 0 ? [] : suggestionFor(tree, [], word);
  const path = place?.split(' ');
  return more.length === 0 && path?.at(-1) === word && nodeAt(tree, path) !== undefined ? path : undefined;
}

/** Formats the headings of a topic: lines without an indent, the last of which ends with a colon. */
function withHeadings(text: string, look: HelpLook): string {
  const lines = text.split('\n');
  let isHeading = false;
  for (let at = lines.length - 1; at >= 0; at -= 1) {
    const line = lines[at] ?? '';
    isHeading = line !== '' && !line.startsWith(' ') && (isHeading || line.endsWith(':'));
    if (isHeading) lines[at] = heading(line, look);
  }
  return lines.join('\n');
}

const VARIABLES: readonly (readonly [name: string, meaning: string])[] = [
  ['COFFER_STORE', `store ${locationForms} (--store)`],
  ['COFFER_ADDR', 'server to use: http://…, https://… or unix:/PATH (--address)'],
  ['COFFER_TOKEN', 'token for the server (--token, --token-file)'],
  ['COFFER_ID_TOKEN', 'ID token of a CI job, for "coffer login jwt"'],
  [
    'COFFER_IDENTITY',
    'private key (age or SSH): unlocks stores that were created with --recipient, and keyrings of repositories',
  ],
  ['COFFER_IDENTITY_FILE', 'file with private keys, used like COFFER_IDENTITY'],
  [
    'SSH_AUTH_SOCK',
    'socket of the ssh-agent that can sign your changes to a keyring; used only on a terminal',
  ],
  ['COFFER_STATE', 'if "none", remember nothing about keyrings on this machine'],
  ['COFFER_CLIENT_CERT', 'file with the TLS client certificate for the server, PEM'],
  ['COFFER_CLIENT_KEY', 'file with the private key of this client certificate, PEM'],
  ['COFFER_CACERT', 'file with CA certificates to trust in addition to the usual ones, PEM'],
  ['COFFER_MOUNT', 'mount (set of keys) to use (--mount)'],
  ['COFFER_ORG', 'organization to use for tags and workspaces (--org)'],
  ['COFFER_NEW_PASSPHRASE', 'new passphrase for "init", "slots add" and "passphrase change"'],
  [
    'VAULT_TOKEN, ~/.vault-token, VAULT_CACERT, VAULT_NAMESPACE',
    'used for a server if the COFFER_ variables are not set',
  ],
  [
    'VAULT_CLIENT_CERT, VAULT_CLIENT_KEY, VAULT_ID_TOKEN',
    'used for a server, or a login to it, if the COFFER_ variables are not set',
  ],
  ['VAULT_ADDR', 'server to use if COFFER_ADDR is not set and no store exists'],
  [
    'BAO_ADDR',
    'ignored; prints a warning on a terminal, and after a change to the local store; set COFFER_ADDR instead',
  ],
  [
    'COFFER_ASKPASS, SSH_ASKPASS',
    'program that shows prompts of the agent ("agent offer --confirm") and of age plugins outside a terminal',
  ],
  [
    'COFFER_CLIPBOARD_SECONDS',
    'seconds until a secret that --copy copied is cleared from the clipboard; default: 45',
  ],
  ['COFFER_NO_PROMPT', 'if set, never prompt; fail if input is missing (--no-prompt)'],
  [
    'HTTPS_PROXY, HTTP_PROXY, NO_PROXY',
    'proxy for connections to servers on other machines; NO_PROXY lists servers to connect to directly',
  ],
  ['COFFER_DEBUG', 'if set, print stack traces for errors'],
  ['NO_COLOR', 'if set, disable color (--no-color)'],
];

/**
 * Formats a topic.
 * @param columns width of lines, above which a list in two columns becomes one with the meaning below the term
 * @param most the same for the exit codes, which scripts search by line: unlimited in a pipe
 */
type TopicPrinter = (columns: number, most?: number) => string;

/** Word that users try for the list of topics, which is in the help of this command. */
const LIST = 'topics';
const HELP = 'help';

/** Topics with the other words for them that users try. */
export const OTHER_WORDS: Readonly<Record<string, readonly string[]>> = {
  unlocking: ['forgotten', 'recovery', 'unlock-methods'],
  sharing: ['share', 'keyring', 'keyrings', 'colleagues'],
  pipelines: [
    ...['ci', 'cd', 'ci-cd', 'cicd', 'pipeline', 'job', 'jobs', 'automation'],
    ...['script', 'scripts', 'scripting', 'scripts-and-ci'],
    ...['github', 'github-actions', 'actions', 'gitlab', 'gitlab-ci'],
  ],
  environment: ['variables', 'vars'],
  'exit-codes': ['exit', 'exit-code', 'exit-status', 'codes', 'errors'],
  'secrets-format': ['rules', 'coffer-yaml', '.coffer.yaml'],
  'policy-format': ['policies', 'hcl'],
  'store-format': ['uninstalling'],
};

const OTHER_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries(OTHER_WORDS).flatMap(([topic, words]) => words.map((word) => [word, topic] as const)),
);

/** Returns the topic that words are about: its name or another word for it, also in several words, or in capitals. */
function topicOf(words: readonly string[]): string | undefined {
  const name = words
    .flatMap((word) => word.split(/[ /_]+/))
    .join('-')
    .toLowerCase();
  return topics.has(name) ? name : OTHER_NAMES.get(name);
}

/** Texts of `coffer help TOPIC`. */
export const topics: ReadonlyMap<string, TopicPrinter> = new Map<string, TopicPrinter>([
  ['options', optionsTopic],
  ['environment', environmentTopic],
  ['exit-codes', exitCodesTopic],
  ...topicPages.map(
    (topic) =>
      [
        topic.name,
        (columns: number, most?: number) => topicText(topic, columns, most !== undefined),
      ] as const,
  ),
]);

/** Returns every environment variable that the command reads. */
export const variableGroups = (): readonly { title: string; variables: typeof VARIABLES }[] => [
  {
    title: 'Secrets that unlock the store (default: the agent started by "coffer unlock", else a prompt):',
    variables: unlockSources.map(({ variable, meaning }) => [variable, meaning]),
  },
  { title: 'Settings (command-line options take precedence):', variables: VARIABLES },
  ...backendEnvironments().map(({ title, variables }) => ({ title: `For a store in ${title}:`, variables })),
];

/** Text that applies to all variables. */
export const EMPTY_VARIABLES = 'Empty variables count as unset.';

function optionsTopic(columns: number): string {
  const width = Math.min(columns, MOST_COLUMNS);
  const terms = everywhereOptions.map((option): readonly [string, string] => [
    optionTerm(option),
    withNotes(option.help, option),
  ]);
  return ['Options of every command, before or after its name:', ...listed(terms, width), ''].join('\n');
}

function environmentTopic(columns: number): string {
  const groups = variableGroups().flatMap(({ title, variables }) => [
    wrapped(title, columns, 0),
    ...aligned(variables, columns),
    '',
  ]);
  return [...groups, EMPTY_VARIABLES, ''].join('\n');
}

function exitCodesTopic(_columns: number, most = Number.POSITIVE_INFINITY): string {
  const rows = exitCodeMeanings.map(([code, meaning]) => [String(code), meaning] as const);
  return [...aligned(rows, most), ''].join('\n');
}

type Terms = readonly (readonly [term: string, meaning: string])[];

/** Formats terms with their meanings beside them; below them if that is wider than `most` columns. */
function aligned(rows: Terms, most: number): string[] {
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, meaning]) => `  ${name.padEnd(width)}  ${meaning}`);
  return lines.every((line) => line.length <= most) ? lines : listed(rows, Math.min(most, MOST_COLUMNS));
}

/** Formats terms with their meanings below them. */
const listed = (rows: Terms, width: number): string[] =>
  rows.map(([term, meaning]) => `  ${term}\n${wrapped(meaning, width, 6)}`);
