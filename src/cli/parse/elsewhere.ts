import { nearest } from '../../ground/nearness.ts';
import { FIELD } from './vault-options.ts';

/* Words and options of other programs, such as vault, sops, age, gpg and pass, with what does the same here. */

/** Returns entries of a table for words with the same meaning. */
const each = <T>(words: readonly string[], meaning: T, before = ''): readonly (readonly [string, T])[] =>
  words.map((word) => [before + word, meaning]);

/** Commands of other programs by their path here, with the equivalent ones; the first that exists is suggested. */
export const ELSEWHERE: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
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
  ['plan', ['tags apply --dry-run FILE']],
  ...each(['passwd', 'change-passphrase', 'password'], ['passphrase change']),
  ['tags move', ['tags rename']],
  ['get keys', ['transit keys list']],
  ['kv get', ['secrets get']],
  ['kv put', ['secrets set']],
  ['team status', ['team']],
  ...each(['create', 'new'], ['team init'], 'team '),
  ['agent start', ['unlock']],
  ['agent stop', ['lock']],
  ...each(['store list', 'store check', 'store show'], ['store verify']),
  ...each(['list', 'ls'], ['transit keys list'], 'transit '),
  ['create', ['transit keys create']],
  ['transit create', ['transit keys create']],
  ...each(['read', 'get', 'show'], ['transit keys read'], 'transit '),
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
  ['tags unused', ['tags list --unused']],
  ['workspaces tags', ['tags of']],
  ['workspaces tags add', ['workspaces tag']],
  ...each(['remove', 'rm', 'delete'], ['workspaces untag'], 'workspaces tags '),
  ...each(['add-tag', 'add-tags'], ['workspaces tag'], 'workspaces '),
]);

/** What to do about a passphrase that is lost. */
const FORGOTTEN =
  'a forgotten passphrase cannot be reset; if another secret unlocks the store, set its variable, e.g. COFFER_MASTER_KEY_FILE, ' +
  'and run "coffer slots add --passphrase"; "coffer help unlocking" says more';

/** Ways to look at a file whose values are encrypted. */
const SHOWING_SECRETS =
  'use "coffer secrets get FILE NAME" for one value, "coffer secrets list FILE" for the names, or ' +
  '"coffer secrets decrypt FILE --stdout" for the whole file';

/** What does the work of commands of pass and sops, which keep each secret in a file of its own, or its readers. */
const OF_STORES_OF_FILES: readonly (readonly [string, string])[] = [
  ...each(
    ['insert', 'create secret'],
    'use "coffer secrets set FILE NAME", which asks for the value; "coffer secrets encrypt FILE" encrypts an existing file',
  ),
  ['git', 'use git itself; "coffer secrets git-setup" lets it show and merge decrypted values'],
  [
    'commit',
    'use git itself; to sign commits with a key of Coffer, offer it to git: "coffer agent offer KEY --ssh"',
  ],
  ...each(
    ['find', 'grep', 'search'],
    'use "coffer secrets list FILE" for the names of a file, "coffer transit keys list" for keys',
  ),
  [
    'mv',
    'use mv for a file; for a value, use "coffer secrets get FILE NAME | coffer secrets set FILE NEW", then ' +
      '"coffer secrets unset FILE NAME"',
  ],
  ['cp', 'use cp for a file; for a value, use "coffer secrets get FILE NAME | coffer secrets set FILE NEW"'],
  [
    'updatekeys',
    'to change the members that can decrypt, use "coffer team add NAME KEY" or "coffer team remove NAME"; ' +
      'to encrypt with the newest version of the key, "coffer secrets rewrap FILE"',
  ],
  [
    'users',
    'use "coffer auth userpass list" for users of a server, "coffer team list" for members of a keyring',
  ],
  [
    'history',
    'use "coffer audit show FILE" for requests to a server, "coffer team log" for changes to a keyring, ' +
      '"coffer transit keys read KEY" for the versions of a key',
  ],
];

/** How the audit devices of Vault are set here. */
const AUDIT_LOG =
  'the audit log is set by "coffer serve --audit-log FILE"; "coffer audit show FILE" shows it';

/** Words for bringing back what was deleted, in groups with commands that delete for good, and what to do instead. */
const RESTORING = ['restore', 'undelete', 'recover'];
const FROM_EXPORT =
  'what was deleted can only be restored from a copy: run "coffer tags import FILE" with a file of "coffer tags export", ' +
  'or "coffer store restore FILE" with a backup of the whole store';
const FROM_BACKUP =
  'what was deleted can only be restored with the whole store, from a backup: "coffer store restore FILE"';

/** Commands of other programs by their path here, of which no command is the equivalent: what to do instead. */
export const INSTEAD: ReadonlyMap<string, string> = new Map([
  ['secrets enable', 'a store has transit already; use "coffer mounts add PATH" for another mount'],
  ...each(['list', 'disable'], AUDIT_LOG, 'audit '),
  ['audit tail', 'use "coffer audit show FILE --last 20"'],
  ['audit errors', 'use "coffer audit show FILE --failed"'],
  ...each(['cat', 'view', 'get secret', 'describe secret'], SHOWING_SECRETS),
  ...each(
    ['age-keygen', 'keypair'],
    'use "coffer transit keys create NAME --type x25519"; "coffer transit keys public NAME --format age" shows its recipient',
  ),
  [
    'snapshots',
    'a backup is a file: "coffer store backup FILE" writes one, "coffer store verify FILE" checks it, "coffer store restore FILE" restores it',
  ],
  ...each(['cat', 'view'], SHOWING_SECRETS, 'secrets '),
  ...OF_STORES_OF_FILES,
  [
    'whoami',
    'use "coffer token lookup" with a server, "coffer status" with a local store, which has no users',
  ],
  ['ext precommit', 'did you mean "coffer secrets git-setup"?'],
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

/** Returns what to do instead of a command that a group does not have, such as one of two words. */
export const insteadOfCommand = (
  path: readonly string[],
  word: string,
  next: string | undefined,
): string | undefined =>
  INSTEAD.get([...path, word, next].join(' ')) ??
  INSTEAD.get([...path, word].join(' ')) ??
  (UNDOING.has(word) ? UNDO : undefined);

/** Options with which sops and age are called, and the commands that do the same. */
const DECRYPTING = 'did you mean "coffer secrets decrypt FILE --stdout"?';
const ENCRYPTING = 'did you mean "coffer secrets encrypt FILE"?';
/** Commands for what gpg does with its options. */
const OF_GPG: readonly (readonly [string, string])[] = [
  ...each(
    ['s', 'b', 'sign', 'detach-sign', 'clear-sign', 'clearsign'],
    'did you mean "coffer sign FILE --key NAME"?',
  ),
  ['verify', 'did you mean "coffer verify FILE --key NAME"?'],
  ['G', 'did you mean "coffer transit keys create NAME --type ed25519"?'],
  ['c', 'did you mean "coffer secrets get FILE NAME --copy"?'],
  ...each(
    ['k', 'K', 'list-keys', 'list-public-keys', 'list-secret-keys'],
    'did you mean "coffer transit keys list"?',
  ),
  ...each(
    ['gen-key', 'generate-key', 'full-gen-key', 'full-generate-key', 'quick-gen-key', 'quick-generate-key'],
    'did you mean "coffer transit keys create NAME"?',
  ),
  ...each(
    ['delete-key', 'delete-keys', 'delete-secret-keys'],
    'did you mean "coffer transit keys delete NAME"?',
  ),
  ['export', 'did you mean "coffer transit keys public NAME"?'],
  ...each(
    ['export-secret-key', 'export-secret-keys'],
    'did you mean "coffer transit keys export NAME --key-type encryption-key"?',
  ),
  [
    'import',
    'use "coffer transit import NAME --type TYPE --in FILE" for a key of your own, as PEM, base64 or an age identity ' +
      '(not OpenPGP); public keys of others need no import: verify takes them with --public-key',
  ],
  ...each(
    ['p', 'symmetric', 'passphrase'],
    'did you mean "coffer transit envelope encrypt --passphrase --in FILE"?',
  ),
];
const FOR_RECIPIENTS = 'did you mean "coffer transit envelope encrypt --recipient RECIPIENT --in FILE"?';

/** What is said of options of sops that a command here does not need. */
const IN_PLACE = 'leave it out: the command changes the file itself';
const LEAVE_OUT = 'leave it out: the command always encrypts';

/** Options of other programs by the path of the command here: what to do instead. */
const OPTIONS_ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['help --all', '"coffer --help" lists the commands, "coffer help help" the topics'],
  ['serve --dev', 'not needed: "coffer init" creates a store, "coffer serve" serves it'],
  ['serve --port', 'use --listen 127.0.0.1:PORT'],
  ...each(['host', 'bind'], 'use --listen HOST:PORT', 'serve --'),
  ...each(['d', 'decrypt'], DECRYPTING, '--'),
  ...each(['e', 'encrypt'], ENCRYPTING, '--'),
  ...each(['r', 'R', 'recipient', 'age'], FOR_RECIPIENTS, '--'),
  ...OF_GPG.map(([flag, hint]) => [`--${flag}`, hint] as const),
  ...['secrets encrypt', 'transit envelope encrypt'].flatMap((command) =>
    each(['r', 'R', 'recipient', 'age'], FOR_RECIPIENTS, `${command} --`),
  ),
  ...each(['untagged', 'no-tags'], "use --without-tag '*'", 'workspaces list --'),
  ...each(['exclude-tag', 'exclude-tags', 'exclude-taggable'], 'use --without-tag TAG', 'workspaces list --'),
  ...each(['no-tag', 'not-tag'], 'did you mean --without-tag?', 'workspaces list --'),
  ['transit keys read --all', 'did you mean -o wide?'],
  ['secrets decrypt --out', 'did you mean --stdout?'],
  ...['secrets encrypt', 'secrets decrypt', 'secrets rewrap', 'edit'].flatMap((command) =>
    each(['i', 'in-place'], IN_PLACE, `${command} --`),
  ),
  ...each(['d', 'decrypt'], DECRYPTING, 'secrets decrypt --'),
  ...each(['e', 'encrypt'], LEAVE_OUT, 'secrets encrypt --'),
  ['secrets decrypt --extract', 'use "coffer secrets get FILE NAME" for one value'],
  [
    'secrets set --value',
    'leave it out: "coffer secrets set FILE NAME" asks for the value, or reads it from a pipe',
  ],
  ...each(['list', 'of'], 'use "coffer tags of WS"', 'tags ').map(
    ([path, hint]) => [`${path} --workspace`, hint] as const,
  ),
  ...['auth userpass write', 'auth userpass password', 'login'].flatMap((command) =>
    each(['password', 'p'], 'leave it out: the command asks for the password', `${command} --`),
  ),
  ...each(
    ['passphrase', 'p'],
    'leave it out: the command asks for the passphrase',
    'transit envelope decrypt --',
  ),
  ['policy write --in', 'the file is the second argument: "coffer policy write NAME FILE"'],
  ['token lookup --accessor', 'leave it out: "coffer token lookup ID" takes an accessor as well'],
  ['token renew --accessor', 'leave it out: "coffer token renew ID" takes an accessor as well'],
  ['token revoke --accessor', 'leave it out: "coffer token revoke ID" takes an accessor as well'],
  ['token revoke --mode', 'did you mean "coffer token revoke-prefix PREFIX"?'],
  ...each(['errors', 'failed'], 'did you mean "coffer audit show FILE --failed"?', 'audit --'),
  ...each(['role', 'name', 'who', 'accessor'], 'use --user NAME', 'audit show --'),
  ...each(['operation', 'key'], 'use --path, e.g. --path transit/decrypt/orders', 'audit show --'),
  ...each(['n', 'limit', 'tail', 'lines'], 'use --last N', 'audit show --'),
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
  i: ['identity', 'in'],
  k: ['key'],
  'max-ttl': ['token-max-ttl'],
  name: ['display-name'],
  p: ['passphrase'],
  policies: ['token-policies', 'allowed-policies', 'policy'],
  policy: ['token-policies', 'allowed-policies'],
  t: ['type', 'tag'],
  to: ['workspace'],
  ttl: ['token-ttl', 'for'],
  v: ['version'],
};

/** Options of other programs for the form of the output, with that here. */
const OUTPUTS: Readonly<Record<string, string>> = { detailed: '-o wide', j: '-o json', json: '-o json' };

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

/** Returns the flags that are spelled nearly like one, or otherwise begin with it. */
export function flagsLike(option: string, flags: readonly string[]): readonly string[] {
  const near = nearest(option, flags);
  return near.length > 0 ? near : flags.filter((flag) => flag.startsWith(`${option}-`)).slice(0, 3);
}
