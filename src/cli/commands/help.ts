import { invalid } from '../../ground/errors.ts';
import { backendEnvironments, locationForms } from '../../store/backends/registry.ts';
import { type Command, type Group, isGroup, nodeAt } from '../command.ts';
import { DONE, exitCodeMeanings } from '../exit-codes.ts';
import { everywhereOptions } from '../parse/everywhere.ts';
import { withNotes } from '../parse/notes.ts';
import { optionTerm, parseWithCommander } from '../parse/program.ts';
import { unlockSources } from '../secrets/secret-sources.ts';
import { formats } from '../topics/formats.ts';
import { MOST_COLUMNS, topicText, wrapped } from '../topics/topic.ts';

/** Returns `coffer help` for a command tree. */
export function helpOn(tree: Group): Command {
  const commands = Object.entries(tree.children)
    .filter(([, node]) => isGroup(node) || node.hidden !== true)
    .map(([word]) => word);
  return {
    arguments: [
      {
        metavar: 'TOPIC',
        help: `The words of a command (${commands.join(', ')}), or a topic: ${[...topics.keys()].join(', ')}.`,
        required: false,
        many: true,
        choices: [...commands, ...topics.keys()],
      },
    ],
    options: [],
    examples: [
      ['coffer help transit encrypt', 'The same as coffer transit encrypt --help'],
      ['coffer help environment', 'Every variable that Coffer reads'],
    ],
    async run({ streams }, { arguments: words }) {
      const topic = topics.get(words.join(' '));
      if (topic !== undefined) {
        streams.out.write(topic(streams.out.columns));
        return DONE;
      }
      // For unknown words, commander suggests similar commands.
      const argv = nodeAt(tree, words) === undefined ? words : [...words, '--help'];
      const outcome = await parseWithCommander(argv, tree, streams);
      if (outcome.kind === 'run') throw invalid(`there is no help on "${words.join(' ')}"`);
      streams.out.write(outcome.text);
      return DONE;
    },
  };
}

const VARIABLES: readonly (readonly [name: string, meaning: string])[] = [
  ['COFFER_STORE', `store ${locationForms} (--store)`],
  ['COFFER_ADDR', 'server to work against: http://, https:// or unix:/path.sock (--address)'],
  ['COFFER_TOKEN', 'token for the server (--token, --token-file)'],
  ['COFFER_ID_TOKEN', 'token by which a pipeline\'s job shows what it is, for "coffer login jwt"'],
  ['COFFER_IDENTITY', 'private key that opens the keyring of a repository, as "team add --new" prints it'],
  ['COFFER_IDENTITY_FILE', 'file with such a key, of age or SSH'],
  ['COFFER_STATE', '"none": nothing is remembered of keyrings on this machine'],
  ['COFFER_CLIENT_CERT', 'PEM file of the certificate that a server is shown'],
  ['COFFER_CLIENT_KEY', 'PEM file of its key'],
  ['COFFER_CACERT', 'PEM file of certificate authorities to trust beside those that come with Node'],
  ['COFFER_MOUNT', 'transit mount (--mount)'],
  ['COFFER_ORG', 'organization of tags and workspaces (--org)'],
  ['COFFER_NEW_PASSPHRASE', 'the new passphrase of "init --passphrase" and "slots add --passphrase"'],
  ['VAULT_TOKEN, ~/.vault-token, VAULT_CACERT, VAULT_NAMESPACE', 'for a server, where ours are not set'],
  ['VAULT_CLIENT_CERT, VAULT_CLIENT_KEY, VAULT_ID_TOKEN', 'for a login, where ours are not set'],
  ['VAULT_ADDR', 'server to work against where neither COFFER_ADDR nor a store is there'],
  [
    'COFFER_ASKPASS, SSH_ASKPASS',
    'program with which the agent asks before a key is used ("agent offer --confirm")',
  ],
  ['COFFER_NO_PROMPT', 'when set, nothing is asked: what is missing makes the command fail (--no-prompt)'],
  ['HTTPS_PROXY, HTTP_PROXY, NO_PROXY', 'proxy on the way to a server, but for this machine'],
  ['COFFER_DEBUG', 'when set, an error also shows where it arose'],
  ['NO_COLOR', 'when set, no colour (--no-color)'],
];

/** Texts of `coffer help TOPIC`, for a terminal of the given number of columns. */
export const topics: ReadonlyMap<string, (columns: number) => string> = new Map([
  ['options', optionsTopic],
  ['environment', environmentTopic],
  ['exit-codes', exitCodesTopic],
  ...formats.map((topic) => [topic.name, (columns: number) => topicText(topic, columns)] as const),
]);

/** Related environment variables, below a title that says what they have in common. */
export interface VariableGroup {
  readonly title: string;
  readonly variables: readonly (readonly [name: string, meaning: string])[];
}

/** Returns every environment variable that the command reads. */
export const variableGroups = (): readonly VariableGroup[] => [
  {
    title:
      'What unlocks the store; without any of these, its agent ("coffer unlock"), else a prompt on the terminal:',
    variables: unlockSources.map(({ variable, meaning }) => [variable, meaning]),
  },
  { title: 'Settings; an option on the command line wins:', variables: VARIABLES },
  ...backendEnvironments().map(({ title, variables }) => ({ title: `For a store in ${title}:`, variables })),
];

/** Text that applies to all variables. */
export const EMPTY_VARIABLES = 'An empty variable counts as one that is not set.';

function optionsTopic(columns: number): string {
  const width = Math.min(columns, MOST_COLUMNS);
  const terms = everywhereOptions.map((option): readonly [string, string] => [
    optionTerm(option),
    withNotes(option.help, option),
  ]);
  return [
    'Options of every command, before or after its name:',
    ...terms.map(([term, meaning]) => `  ${term}\n${wrapped(meaning, width, 6)}`),
    '',
  ].join('\n');
}

function environmentTopic(): string {
  const groups = variableGroups().flatMap(({ title, variables }) => [title, ...columns(variables), '']);
  return [...groups, EMPTY_VARIABLES, ''].join('\n');
}

function exitCodesTopic(): string {
  return [...columns(exitCodeMeanings.map(([code, meaning]) => [String(code), meaning])), ''].join('\n');
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, meaning]) => `  ${name.padEnd(width)}  ${meaning}`);
}
