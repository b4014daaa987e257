import { nearest } from '../../ground/nearness.ts';
import { formatOf } from '../../secret-files/formats.ts';
import { type Group, isGroup, nodeAt } from '../command.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { IN } from './operation-spec.ts';
import { FIELD } from './vault-options.ts';

/** Verbs with the same meaning in other programs; each group here has at most one of each line. */
const SAME_MEANING: readonly (readonly string[])[] = [
  ['list', 'ls'],
  ['read', 'get', 'show', 'lookup', 'info', 'inspect', 'describe'],
  ['create', 'add', 'write', 'new', 'put'],
  ['delete', 'remove', 'revoke', 'rm', 'del', 'destroy'],
  ['config', 'configure', 'update', 'edit', 'set'],
];

/**
 * Word for another verb in some programs. If there is a command of that name, it opens an editor, and no other verb
 * means that.
 */
const EDITOR = 'edit';

/** Returns entries of a table for words with the same meaning. */
const each = <T>(words: readonly string[], meaning: T, before = ''): readonly (readonly [string, T])[] =>
  words.map((word) => [before + word, meaning]);

/** Commands of other programs by their path here, with the equivalent ones; the first that exists is suggested. */
const ELSEWHERE: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ...each(['run', 'exec-env', 'exec-file'], ['exec']),
  ...each(['kv', 'secret'], ['secrets', 'transit encrypt']),
  ...each(['key', 'keys'], ['transit keys']),
  ['operator', ['unseal']],
  ['operator init', ['init']],
  ['operator seal', ['seal']],
  ['operator unseal', ['unseal']],
  ...each(['rekey', 'rotate'], ['rekey'], 'operator '),
  ['operator diagnose', ['doctor']],
  ['server', ['serve']],
  ['audit enable', ['serve --audit-log FILE']],
  ...each(['generate', 'generate-key', 'genkey', 'gen-key'], ['keygen']),
  ['updatekeys', ['slots add']],
  ...each(['passwd', 'change-passphrase', 'password'], ['passphrase change']),
  ['whoami', ['token lookup']],
  ['tags move', ['tags rename']],
  ['get keys', ['transit keys list']],
  ['kv get', ['secrets get']],
  ['kv put', ['secrets set']],
  ['team status', ['team']],
  ['agent start', ['unlock']],
  ['agent stop', ['lock']],
  ...each(['list', 'ls'], ['transit keys list'], 'transit '),
  ['transit create', ['transit keys create']],
  ...each(['delete', 'rm', 'remove', 'del'], ['transit keys delete'], 'transit '),
  ...each(
    ['undelete', 'transit undelete', 'transit keys undelete', 'transit keys restore'],
    ['transit keys soft-delete-restore'],
  ),
  ['secrets status', ['secrets list']],
  ['secrets run', ['exec']],
  ['secrets enc', ['secrets encrypt']],
  ['secrets dec', ['secrets decrypt']],
  ...each(['rm', 'remove', 'delete', 'del'], ['secrets unset'], 'secrets '),
  ['tags merge', ['tags rename --merge']],
  ...each(['share', 'invite', 'team invite', 'team share'], ['team add']),
  ['print', ['token lookup']],
  ['path-help', ['help']],
  ...each(['lease', 'lease renew'], ['token renew']),
  ['lease revoke', ['token revoke']],
  ...each(['check', 'doctor', 'repair'], ['doctor'], 'store '),
  ['ping', ['health']],
  ['secrets disable', ['mounts remove']],
  ...each(['rekey', 'reencrypt', 're-encrypt', 'updatekeys'], ['secrets rewrap'], 'secrets '),
  ['secrets move', ['mounts move']],
  ['mounts enable', ['mounts add']],
  ['mounts disable', ['mounts remove']],
  ['workspaces tags', ['tags of']],
  ...each(['add-tag', 'add-tags'], ['workspaces tag'], 'workspaces '),
]);

/**
 * Words that mean nothing here, although commands of other programs and of other groups have them: a plausible but
 * wrong command is worse than none.
 */
const NOTHING_HERE: ReadonlySet<string> = new Set(['get', 'history', 'info', 'set']);

/** Commands for one value of a file, which some type at the top: nothing else is meant before such a file, or alone. */
const FOR_NAMED_VALUE: ReadonlySet<string> = new Set(['get', 'set', 'unset']);

/** Words for reading, of which the one at the top may mean a key or a value of a file. */
const FOR_READING: ReadonlySet<string> = new Set(['get', 'show']);
const FOR_ONE_VALUE = 'secrets get FILE NAME';

/** What to do about a passphrase that is lost. */
const FORGOTTEN =
  'a forgotten passphrase cannot be reset; if another secret unlocks the store, set its variable, e.g. COFFER_MASTER_KEY_FILE, ' +
  'and run "coffer slots add --passphrase"; "coffer help unlocking" says more';

/** Ways to look at a file whose values are encrypted. */
const SHOWING_SECRETS =
  'use "coffer secrets get FILE NAME" for one value, "coffer secrets list FILE" for the names, or ' +
  '"coffer secrets decrypt FILE --stdout" for the whole file';

/** How the audit devices of Vault are set here. */
const AUDIT_LOG =
  'the audit log is set by "coffer serve --audit-log FILE"; "coffer audit show FILE" shows it';

/** Words for bringing back what was deleted, in groups with commands that delete for good, and what to do instead. */
const RESTORING = ['restore', 'undelete', 'recover'];
const FROM_EXPORT =
  'deleted tags and workspaces cannot be restored; if "coffer tags export" kept a copy, run "coffer tags import FILE"';
const FROM_BACKUP =
  'what was deleted cannot be restored, except with the whole store, from a backup: "coffer store restore FILE"';

/** Commands of other programs by their path here, of which no command is the equivalent: what to do instead. */
const INSTEAD: ReadonlyMap<string, string> = new Map([
  ['secrets enable', 'a store has transit already; use "coffer mounts add PATH" for another mount'],
  ...each(['list', 'disable'], AUDIT_LOG, 'audit '),
  ['audit errors', 'use "coffer audit show FILE --failed"'],
  ...each(['cat', 'view'], SHOWING_SECRETS, 'secrets '),
  ['secrets rotate', 'use "coffer transit keys rotate KEY", then "coffer secrets rewrap FILE"'],
  ['workspaces rename', 'use "coffer workspaces update WS --name NAME"'],
  ['projects rename', 'use "coffer projects update PROJECT --name NAME"'],
  ['orgs rename', 'use "coffer orgs update ORG --name NAME"'],
  ...each(
    ['upgrade', 'update', 'self-update'],
    '"coffer version" on a terminal says how to upgrade this copy',
  ),
  ...['tags', 'workspaces', 'projects', 'orgs'].flatMap((group) => each(RESTORING, FROM_EXPORT, `${group} `)),
  ...['policy', 'token', 'token roles', 'mounts', 'auth', 'slots'].flatMap((group) =>
    each(RESTORING, FROM_BACKUP, `${group} `),
  ),
  ...each(['recover', 'recovery', 'forgot', 'reset'], FORGOTTEN),
  ...each(['reset', 'forgot', 'recover'], FORGOTTEN, 'passphrase '),
  [
    'uninstall',
    'delete the executable; "coffer help store-format" lists the files that remain, such as the store',
  ],
]);

/** Words of other programs for undoing a change. */
const UNDOING: ReadonlySet<string> = new Set(['undo', 'revert', 'rollback', 'roll-back']);
const UNDO =
  'no command undoes a change: use git for a file, "coffer transit keys reinstate KEY VERSION" for a revoked key version, ' +
  '"coffer transit keys soft-delete-restore KEY" for a soft-deleted key, "coffer store restore FILE" for a store';

/** Returns what to do instead of a command that a group does not have. */
export const insteadOfCommand = (path: readonly string[], word: string): string | undefined =>
  INSTEAD.get([...path, word].join(' ')) ?? (UNDOING.has(word) ? UNDO : undefined);

/** Options with which sops and age are called, and the commands that do the same. */
const DECRYPTING = 'did you mean "coffer secrets decrypt FILE --stdout"?';
const ENCRYPTING = 'did you mean "coffer secrets encrypt FILE"?';
const FOR_RECIPIENTS = 'did you mean "coffer transit envelope encrypt --recipient RECIPIENT --in FILE"?';

/** What is said of options of sops that a command here does not need. */
const IN_PLACE = 'leave it out: the file itself is changed';
const LEAVE_OUT = 'leave it out: the command says it';

/** Options of other programs by the path of the command here: what to do instead. */
const OPTIONS_ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['help --all', '"coffer --help" lists the commands, "coffer help help" the topics'],
  ['serve --dev', 'not needed: "coffer init" creates a store, "coffer serve" serves it'],
  ['serve --port', 'use --listen 127.0.0.1:PORT'],
  ...each(['host', 'bind'], 'use --listen HOST:PORT', 'serve --'),
  ...each(['d', 'decrypt'], DECRYPTING, '--'),
  ...each(['e', 'encrypt'], ENCRYPTING, '--'),
  ...each(['r', 'recipient'], FOR_RECIPIENTS, '--'),
  ...each(['untagged', 'no-tags'], "use --without-tag '*'", 'workspaces list --'),
  ...each(['exclude-tag', 'exclude-tags', 'exclude-taggable'], 'use --without-tag TAG', 'workspaces list --'),
  ...each(['no-tag', 'not-tag'], 'did you mean --without-tag?', 'workspaces list --'),
  ['transit keys read --all', 'did you mean -o wide?'],
  ['secrets decrypt --out', 'did you mean --stdout?'],
  ...['secrets encrypt', 'secrets decrypt', 'secrets rewrap', 'edit'].flatMap((command) =>
    each(['i', 'in-place'], IN_PLACE, `${command} --`),
  ),
  ...each(['d', 'decrypt'], LEAVE_OUT, 'secrets decrypt --'),
  ...each(['e', 'encrypt'], LEAVE_OUT, 'secrets encrypt --'),
  ['secrets decrypt --extract', 'use "coffer secrets get FILE NAME" for one value'],
  [
    'secrets set --value',
    'leave it out: "coffer secrets set FILE NAME" asks for the value, or reads it from a pipe',
  ],
  ...each(['list', 'of'], 'use "coffer tags of WS"', 'tags ').map(
    ([path, hint]) => [`${path} --workspace`, hint] as const,
  ),
  ['policy write --in', 'the file is the second argument: "coffer policy write NAME FILE"'],
  ['token lookup --accessor', 'leave it out: "coffer token lookup ID" takes an accessor as well'],
  ['token renew --accessor', 'leave it out: "coffer token renew ID" takes an accessor as well'],
  ['token revoke --accessor', 'leave it out: "coffer token revoke ID" takes an accessor as well'],
  ['token revoke --mode', 'did you mean "coffer token revoke-prefix PREFIX"?'],
  ...each(['errors', 'failed'], 'did you mean "coffer audit show FILE --failed"?', 'audit --'),
  ...each(['role', 'name', 'who', 'accessor'], 'use --user NAME', 'audit show --'),
]);

/** Options of other programs for any command: the option here. */
const FLAGS_ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  c: ['copy'],
  clip: ['copy'],
  denied: ['failed'],
  error: ['failed'],
  errors: ['failed'],
  failures: ['failed'],
  fix: ['repair'],
  h: ['help'],
  i: ['in'],
  k: ['key'],
  'max-ttl': ['token-max-ttl'],
  name: ['display-name'],
  policies: ['token-policies', 'allowed-policies', 'policy'],
  policy: ['token-policies', 'allowed-policies'],
  t: ['type', 'tag'],
  to: ['workspace'],
  ttl: ['token-ttl'],
  v: ['version'],
};

/** Options of other programs for the form of the output, with that here. */
const OUTPUTS: Readonly<Record<string, string>> = { detailed: '-o wide', j: '-o json' };

/** How a response is wrapped, which no command here does. */
const WRAPPING =
  'send the request with curl and the header "X-Vault-Wrap-TTL: 60s"; "coffer unwrap" unwraps the response';

/**
 * Returns what to do instead of an option that the command does not have.
 * @param flags flags that the command has
 */
export function insteadOfOption(
  path: readonly string[],
  flag: string,
  flags: readonly string[],
): string | undefined {
  const instead = OPTIONS_ELSEWHERE.get([...path, `--${flag}`].join(' '));
  if (instead !== undefined) return instead;
  if (flag === 'wrap-ttl') return WRAPPING;
  if (flag === FIELD && flags.includes('output')) return 'use -o json, and jq for one field';
  const output = Object.hasOwn(OUTPUTS, flag) ? OUTPUTS[flag] : undefined;
  if (output !== undefined && flags.includes('output')) return `did you mean ${output}?`;
  const meant = Object.hasOwn(FLAGS_ELSEWHERE, flag) ? FLAGS_ELSEWHERE[flag] : undefined;
  const own = meant?.find((candidate) => flags.includes(candidate));
  return own !== undefined ? `did you mean --${own}?` : undefined;
}

/**
 * Commands of a longer path that are meant as often as those of the shortest: a file is encrypted by an
 * envelope, and a tag is added to the pool, or to a workspace.
 */
const ALSO_MEANT: ReadonlyMap<string, string> = new Map([
  ['encrypt', 'transit envelope encrypt'],
  ['decrypt', 'transit envelope decrypt'],
  ['export', 'transit keys export'],
  ['tags add', 'tags attach'],
  ['tags remove', 'tags detach'],
]);

/** Groups with commands for files: for those whose values are encrypted one by one, and for any other. */
const FOR_VALUES = 'secrets ';
const FOR_FILES = 'transit envelope ';
/** Group with commands for keys, which are meant more often than tags and workspaces. */
const FOR_KEYS = 'transit keys ';

/** Word after an unknown one. */
export interface NextWord {
  readonly word?: string | undefined;
  /** Whether it is the path of an existing file. */
  readonly isFile: boolean;
  /** Word after it, if only that is the path of an existing file. */
  readonly file?: string | undefined;
}

/** Maximum number of suggestions that are helpful. */
const MOST_PLACES = 3;

/**
 * Returns what was probably meant by a word that a group does not know: the word that other programs have for it, the
 * group's own verb, the same word for several, a command of the group that is nearly spelled so, or else the commands
 * of that name elsewhere in the tree, those of the shortest path. Within a group, only commands at the top and those
 * of the same top group are meant: another group's command of that name does something else. If none has that name, the
 * same is looked up for the nearest name that one has.
 * @param path of the group
 * @param next word after it, for commands of other programs that have two, and for files
 * @returns commands or groups, each as all its words after `coffer`; empty if nothing is certain enough
 */
export function suggestionFor(
  tree: Group,
  path: readonly string[],
  word: string,
  next: NextWord = { isFile: false },
): readonly string[] {
  const meant = suggestionAsSpelled(tree, path, word, next);
  if (meant.length > 0) return meant;
  const near = nearest(word, wordsKnownBelow(tree, path));
  const places = new Set(near.flatMap((spelling) => suggestionAsSpelled(tree, path, spelling, next)));
  return places.size > MOST_PLACES ? [] : [...places];
}

/** Returns the words that a suggestion can be looked up for, and those for which none is certain enough. */
function wordsKnownBelow(tree: Group, path: readonly string[]): readonly string[] {
  const prefix = path.map((word) => `${word} `).join('');
  const elsewhere = [...ELSEWHERE.keys(), ...INSTEAD.keys()]
    .filter((words) => words.startsWith(prefix))
    .map((words) => words.slice(prefix.length))
    .filter((word) => !word.includes(' '));
  const [top] = path;
  const group = top === undefined ? tree : nodeAt(tree, [top]);
  const below = group !== undefined && isGroup(group) ? namesIn(group) : [];
  return [...new Set([...below, ...visibleWords(tree.children), ...elsewhere, ...NOTHING_HERE])];
}

/** Returns the names of all commands and groups. */
const namesIn = ({ children }: Group): readonly string[] => [
  ...visibleWords(children),
  ...Object.values(children).flatMap((node) => (isGroup(node) ? namesIn(node) : [])),
];

/** Returns the same without a regard for slips of the finger, except in names of the group itself. */
function suggestionAsSpelled(
  tree: Group,
  path: readonly string[],
  word: string,
  next: NextWord,
): readonly string[] {
  const group = nodeAt(tree, path);
  const known = group !== undefined && isGroup(group) ? group.children : {};
  const here = (own: string): readonly string[] => [[...path, own].join(' ')];
  if (Object.hasOwn(known, `${word}s`)) return here(`${word}s`);
  const words = [...path, word];
  const ofFile = next.isFile && next.word !== undefined && formatOf(next.word) !== undefined;
  if (path.length === 0 && FOR_NAMED_VALUE.has(word)) {
    if (ofFile) return [`${FOR_VALUES}${word} ${shellWord(next.word)} NAME`];
    if (next.word === undefined) return [`${FOR_VALUES}${word}`];
  }
  if (path.length === 0 && word === 'show' && ofFile) {
    const file = shellWord(next.word);
    return [`${FOR_VALUES}list ${file}`, `${FOR_VALUES}decrypt ${file} --stdout`];
  }
  const elsewhere = ELSEWHERE.get([...words, next.word ?? ''].join(' ')) ?? ELSEWHERE.get(words.join(' '));
  if (elsewhere !== undefined) {
    const there = elsewhere.find((place) => nodeAt(tree, commandIn(place)) !== undefined);
    return there === undefined ? [] : [there];
  }
  if (path.length === 0 && FOR_READING.has(word) && !next.isFile)
    return [`${FOR_KEYS}read${next.word === undefined ? '' : ` ${shellWord(next.word)}`}`, FOR_ONE_VALUE];
  const meaning = path.length === 0 ? undefined : SAME_MEANING.find((same) => same.includes(word));
  if (meaning !== undefined) {
    const own = meaning.find((same) => same !== EDITOR && Object.hasOwn(known, same));
    const also = ALSO_MEANT.get(words.join(' '));
    return own === undefined ? [] : [...here(own), ...(also === undefined ? [] : [also])];
  }
  if (NOTHING_HERE.has(word)) return [];
  const near = nearest(word, visibleWords(known)).flatMap(here);
  if (near.length > 0) return near;
  const places = placesOf(tree, word, []).filter(
    ([top = '', ...below]) => path.length === 0 || below.length === 0 || top === path[0],
  );
  const depth = Math.min(...places.map(({ length }) => length));
  const shortest = places.filter(({ length }) => length === depth).map((place) => place.join(' '));
  const also = path.length === 0 ? ALSO_MEANT.get(word) : undefined;
  const meant =
    also === undefined || !places.some((place) => place.join(' ') === also)
      ? shortest
      : also.startsWith(FOR_KEYS)
        ? [also, ...shortest]
        : [...shortest, also];
  if (meant.length > MOST_PLACES) return [];
  if (also?.startsWith(FOR_FILES) !== true) return meant;
  if (next.isFile && next.word !== undefined) return forFile(word, next.word);
  return next.file === undefined ? meant : forFile(word, next.file, next.word);
}

/** Placeholder for the key in a suggestion. */
export const ANY_KEY = 'KEY';

/** Returns the whole commands to encrypt or decrypt a file: first, if its values can be, those for its values. */
function forFile(verb: string, path: string, key?: string): readonly string[] {
  const file = shellWord(path);
  const isEncryption = verb === 'encrypt';
  // In a script, a name alone would be that of the key to decrypt with.
  const whole = `${FOR_FILES}${verb} ${isEncryption ? (key ?? ANY_KEY) : `--${IN}`} ${file}`;
  if (formatOf(path) === undefined) return [whole];
  const withKey = isEncryption && key !== undefined ? ` --key ${key}` : '';
  return [`${FOR_VALUES}${verb} ${file}${withKey}`, whole];
}

/** Returns the words of the command in a suggestion, which may go on with options. */
const commandIn = (place: string): readonly string[] => (place.split(' --', 1)[0] ?? '').split(' ');

const visibleWords = (children: Group['children']): readonly string[] =>
  Object.entries(children).flatMap(([name, node]) => (isGroup(node) || node.hidden !== true ? [name] : []));

/** Returns the paths of all commands and groups of that name. */
function placesOf(group: Group, word: string, path: readonly string[]): readonly (readonly string[])[] {
  return Object.entries(group.children).flatMap(([name, node]) => {
    if (!isGroup(node) && node.hidden === true) return [];
    const here = [...path, name];
    const inside = isGroup(node) ? placesOf(node, word, here) : [];
    return name === word ? [here, ...inside] : inside;
  });
}
