import { locationForms } from '../../store/backends/registry.ts';
import type { OptionSpec } from '../command.ts';

/** The options that every command has; they may stand before or after its name. */
export const everywhereOptions: readonly OptionSpec[] = [
  {
    flag: 'store',
    takes: 'value',
    metavar: 'DIR|URL',
    help: `Store ${locationForms}.`,
    fallback: "COFFER_STORE, else in the platform's data directory",
    offers: 'directory',
    excludes: ['address'],
  },
  {
    flag: 'address',
    takes: 'value',
    metavar: 'URL',
    help: 'Work against a server: http://, https:// or unix:/path.sock.',
    fallback: 'COFFER_ADDR, else no server',
  },
  {
    flag: 'token',
    takes: 'maybe',
    metavar: 'TOKEN',
    help: 'Token for the server; asked for when no TOKEN follows.',
    fallback: 'COFFER_TOKEN',
    excludes: ['token-file'],
  },
  {
    flag: 'token-file',
    takes: 'value',
    metavar: 'FILE',
    help: 'File that holds the token.',
    offers: 'file',
  },
  {
    flag: 'mount',
    takes: 'value',
    metavar: 'PATH',
    help: 'Transit mount.',
    fallback: 'COFFER_MOUNT, else transit',
    offers: 'mount',
  },
  {
    flag: 'org',
    takes: 'value',
    metavar: 'NAME',
    help: 'Organization of tags and workspaces.',
    fallback: 'COFFER_ORG',
    offers: 'organization',
  },
  {
    flag: 'output',
    short: 'o',
    takes: 'value',
    metavar: 'FORMAT',
    help: 'How results are shown.',
    fallback: 'table on a terminal, else raw',
    choices: ['table', 'json', 'raw'],
  },
  { flag: 'quiet', short: 'q', takes: 'nothing', help: 'Say nothing but results and errors.' },
  { flag: 'no-color', takes: 'nothing', help: 'No colour.', fallback: 'NO_COLOR' },
  { flag: 'yes', short: 'y', takes: 'nothing', help: 'Do it without asking.' },
];

/** Those that a command has beside its own; its own meaning of a flag wins. */
export const everywhereBeside = (own: readonly OptionSpec[]): readonly OptionSpec[] =>
  everywhereOptions.filter((option) => !own.some((other) => other.flag === option.flag));
