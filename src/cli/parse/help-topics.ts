import { backendEnvironments, locationForms } from '../../store/backends/registry.ts';
import { exitCodeMeanings } from '../exit-codes.ts';
import { unlockSources } from '../secrets/secret-sources.ts';

const VARIABLES: readonly (readonly [name: string, meaning: string])[] = [
  ['COFFER_STORE', `store ${locationForms} (--store)`],
  ['COFFER_ADDR', 'server to work against: http://, https:// or unix:/path.sock (--address)'],
  ['COFFER_TOKEN', 'token for the server (--token, --token-file)'],
  ['COFFER_CACERT', 'PEM file of certificate authorities to trust beside those of the system'],
  ['COFFER_MOUNT', 'transit mount (--mount)'],
  ['COFFER_ORG', 'organization of tags and workspaces (--org)'],
  ['COFFER_NEW_PASSPHRASE', 'the new passphrase of "init --passphrase" and "slots add --passphrase"'],
  ['COFFER_DEBUG', 'when set, an error also shows where it arose'],
  ['NO_COLOR', 'when set, no colour (--no-color)'],
];

/** Texts for `coffer help TOPIC`. */
export const topics: ReadonlyMap<string, () => string> = new Map([
  ['environment', environmentTopic],
  ['exit-codes', exitCodesTopic],
]);

function environmentTopic(): string {
  return [
    'What unlocks the store; without any of these, a prompt on the terminal:',
    ...columns(unlockSources.map(({ variable, meaning }) => [variable, meaning])),
    '',
    'Settings; an option on the command line wins:',
    ...columns(VARIABLES),
    '',
    ...backendEnvironments().flatMap(({ title, variables }) => [
      `For a store in ${title}:`,
      ...columns(variables),
      '',
    ]),
    'An empty variable counts as one that is not set.',
    '',
  ].join('\n');
}

function exitCodesTopic(): string {
  return [...columns(exitCodeMeanings.map(([code, meaning]) => [String(code), meaning])), ''].join('\n');
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, meaning]) => `  ${name.padEnd(width)}  ${meaning}`);
}
