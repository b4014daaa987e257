import { catalogue } from '../operations/catalogue.ts';
import { type CatalogueBranch, type CatalogueEntry, isEntry } from '../operations/catalogue-entry.ts';
import type { Operation } from '../operations/declaration/operation.ts';
import { MOUNT_TYPES } from '../operations/mount-types.ts';
import {
  type CommandLeaf,
  completed,
  type Group,
  type Node,
  type OwnCommand,
  type Section,
} from './command.ts';
import { commandOf } from './operation-command.ts';
import { AGENT_PROCESS, CLIPBOARD_PROCESS, KEYRING_AGENT_PROCESS } from './program.ts';

/** Summaries of the groups of the catalogue. */
const GROUP_SUMMARIES: Readonly<Record<string, string>> = {
  transit: 'Encrypt and sign values and files with named, versioned keys',
  'transit keys': 'Manage named keys and their versions',
  'transit envelope': 'Encrypt files and streams of any size',
  orgs: 'Manage organizations',
  workspaces: 'Manage workspaces and their tags',
  projects: 'Manage projects and the tags their workspaces inherit',
  tags: "Manage the tags of an organization's workspaces and keys",
  'tags reserved': 'Manage tag keys that are reserved for projects to set',
  token: "Manage the tokens of a server's clients",
  policy: 'Manage policies, which say what tokens may do',
  mounts: 'Manage mounts: separate sets of keys, each at a path',
  auth: 'Manage login methods, with which clients get tokens',
  ...Object.fromEntries(
    MOUNT_TYPES.flatMap(({ name, login }) => (login ? [[`auth ${name}`, login.summary]] : [])),
  ),
  'token roles': 'Manage token roles, which limit tokens created from them',
  agent: 'Manage the agent, which keeps the store unlocked',
  slots: 'Manage the secrets that unlock the store (key slots)',
  passphrase: 'Manage the passphrase of the store',
  secrets: 'Encrypt single values in .env, YAML and JSON files',
  team: "Manage a team's keys in a git repository, without a server",
  'team key': 'Manage the keys that values are encrypted with',
  store: 'Back up, restore and move the store',
  audit: 'Read the audit log of a server',
};

/** Declares a command of a file that may have several. */
const own = <Name extends string>(
  summary: string,
  load: () => Promise<Readonly<Record<Name, OwnCommand>>>,
  name: Name,
): CommandLeaf => ({ summary, load: async () => completed((await load())[name]) });

const hidden = (leaf: CommandLeaf): CommandLeaf => ({ ...leaf, hidden: true });

const storeless = () => import('./commands/storeless.ts');
const status = () => import('./commands/status.ts');
const slots = () => import('./commands/slots.ts');
const clipboard = () => import('./commands/clipboard.ts');
const store = () => import('./commands/store.ts');
const storeBackup = () => import('./commands/store-backup.ts');
const envelopes = () => import('./commands/envelope.ts');
const envelopeHeader = () => import('./commands/envelope-header.ts');
const envelopeRewrap = () => import('./commands/envelope-rewrap.ts');
const keysPublic = () => import('./commands/keys-public.ts');
const sign = () => import('./commands/sign.ts');
const sshKeygen = () => import('./commands/ssh-keygen.ts');
const paths = () => import('./commands/paths.ts');
const secretFiles = () => import('./commands/secret-files.ts');
const secretValues = () => import('./commands/secret-values.ts');
const secretCheck = () => import('./commands/secret-check.ts');
const secretInject = () => import('./commands/secret-inject.ts');
const login = () => import('./commands/login.ts');
const audit = () => import('./commands/audit.ts');
const server = () => import('./commands/server.ts');
const serveWorker = () => import('./commands/serve-worker.ts');
const unlock = () => import('./commands/unlock.ts');
const agent = () => import('./commands/agent.ts');
const agentRun = () => import('./commands/agent-run.ts');
const edit = () => import('./commands/edit.ts');
const gitSetup = () => import('./commands/git-setup.ts');
const gitTextconv = () => import('./commands/git-textconv.ts');
const exec = () => import('./commands/exec.ts');
const tagging = () => import('./commands/tagging.ts');
const tagChanges = () => import('./commands/tags-changes.ts');
const tagsFile = () => import('./commands/tags-file.ts');
const tagsShown = () => import('./commands/tags-shown.ts');
const permissions = () => import('./commands/permissions.ts');
const team = () => import('./commands/team.ts');
const teamInit = () => import('./commands/team-init.ts');
const teamUnlock = () => import('./commands/team-unlock.ts');
const teamChanges = () => import('./commands/team-changes.ts');
const teamRemove = () => import('./commands/team-remove.ts');

/** Commands without an operation: they work on the store as a whole, on files, or on the command line itself. */
const storeCommands: Readonly<Record<string, Node>> = {
  keygen: own('Generate a master key', storeless, 'keygen'),
  init: own('Create a store', () => import('./commands/init.ts'), 'command'),
  status: own("Show the store's location, unlock methods and contents", status, 'command'),
  unlock: own('Unlock the store for a while', unlock, 'unlock'),
  lock: own('Lock the store', unlock, 'lock'),
  agent: group('agent', {
    status: own('Show whether the store is unlocked and when it locks', agent, 'status'),
    env: own('Print environment variables that point programs at the agent', agent, 'env'),
    run: own('Run the agent in the foreground', agentRun, 'run'),
    offer: own('Offer a key to other programs through the agent', agent, 'offer'),
    withdraw: own('Stop offering a key to other programs', agent, 'withdraw'),
    list: own('List the keys offered to other programs', agent, 'list'),
  }),
  [CLIPBOARD_PROCESS]: hidden(own('Clear the clipboard later', clipboard, 'inBackground')),
  [KEYRING_AGENT_PROCESS]: hidden(
    own('Run the agent of a keyring in the background', teamUnlock, 'inBackground'),
  ),
  [AGENT_PROCESS]: hidden(own('Run the agent in the background', agentRun, 'inBackground')),
  slots: group('slots', {
    list: own('List the key slots, without their secrets', slots, 'list'),
    add: own('Add a secret that unlocks the store (a key slot)', slots, 'add'),
    remove: own('Remove a key slot: its secret no longer unlocks the store', slots, 'remove'),
  }),
  passphrase: {
    ...group('passphrase', { change: own('Change the passphrase of the store', slots, 'changePassphrase') }),
    bare: 'change',
  },
  rekey: own('Replace the root key and re-encrypt the store', slots, 'rekey'),
  doctor: own('Check the store for damage', store, 'doctor'),
  store: group('store', {
    backup: own('Back up the store to a file', storeBackup, 'backup'),
    restore: own('Restore a store from a backup', storeBackup, 'restore'),
    verify: own('Check that a backup can be restored', storeBackup, 'verify'),
    copy: own('Copy the store to another location', store, 'copy'),
    accept: own('Accept a store that was rolled back to an older state', store, 'accept'),
    migrate: own('Create or upgrade the tables of a PostgreSQL store', store, 'migrate'),
  }),
};

/** Commands without an operation in the groups of the catalogue. */
const ADDED: Readonly<Record<string, Group['children']>> = {
  transit: {
    envelope: group('transit envelope', {
      encrypt: own('Encrypt a file or stream of any size', envelopes, 'encrypt'),
      decrypt: own('Decrypt a file or stream from "envelope encrypt" or age', envelopes, 'decrypt'),
      header: own('Show which key a file is encrypted with, and its metadata', envelopeHeader, 'command'),
      rewrap: own('Update encrypted files to the latest version of their key', envelopeRewrap, 'command'),
    }),
  },
  'transit keys': {
    public: own('Print a public key in the format of another program', keysPublic, 'command'),
  },
  token: { capabilities: own('Show what a token may do on a path', permissions, 'capabilities') },
  policy: { who: own('Show which logins and tokens have a capability on a path', permissions, 'who') },
  workspaces: {
    list: own('List or search workspaces', () => import('./commands/workspaces-list.ts'), 'command'),
    tag: own('Add tags to a workspace; they are created if needed', tagging, 'tagWorkspace'),
  },
  tags: {
    show: own('Show a tag and the workspaces that have it', tagsShown, 'showTag'),
    attach: own('Add a tag to workspaces or transit keys', tagging, 'attach'),
    detach: own('Remove a tag from workspaces or transit keys', tagging, 'detach'),
    of: own('List the tags of a workspace or transit key', tagsShown, 'listTags'),
    delete: own('Delete tags and remove them from all workspaces and keys', tagChanges, 'deleteTags'),
    rename: own('Rename a tag, or merge it into another', tagChanges, 'renameTag'),
    prune: own('Delete unused tags', tagChanges, 'prune'),
    export: own('Export all tags and workspaces to a file', tagsFile, 'exportTags'),
    import: own('Add the tags, workspaces and projects listed in a file', tagsFile, 'importTags'),
    apply: own('Add and remove tags of workspaces, as listed in a file', tagsFile, 'apply'),
  },
};

const signingCommands: Readonly<Record<string, Node>> = {
  sign: own('Sign files for ssh-keygen, git or minisign to verify', sign, 'command'),
  verify: own('Verify the signature of a file', () => import('./commands/verify.ts'), 'command'),
  'age-plugin': hidden(own('Run as a plugin of age', () => import('./commands/age-plugin.ts'), 'command')),
  'ssh-keygen': hidden(own('Sign and verify for git, as ssh-keygen does', sshKeygen, 'command')),
};

const loginCommands: Readonly<Record<string, Node>> = {
  login: own('Log in to a server and store the token', login, 'login'),
  logout: own('Log out: revoke and delete the stored token', login, 'logout'),
};

const pathCommands: Readonly<Record<string, Node>> = {
  read: own('Read a path of the HTTP API, like "vault read"', paths, 'read'),
  write: own('Write to a path of the HTTP API, like "vault write"', paths, 'write'),
  list: own('List a path of the HTTP API, like "vault list"', paths, 'list'),
  delete: own('Delete a path of the HTTP API, like "vault delete"', paths, 'remove'),
};

/** Commands for values in files, and for programs that use them. */
const secretCommands: Readonly<Record<string, Node>> = {
  edit: own('Edit a file with encrypted values in your editor', edit, 'command'),
  exec: own('Run a program with decrypted values in its environment', exec, 'command'),
  secrets: group('secrets', {
    encrypt: own('Encrypt values in files', secretFiles, 'encrypt'),
    decrypt: own('Decrypt values in files, in place', secretFiles, 'decrypt'),
    rewrap: own('Re-encrypt values with the latest key versions', secretFiles, 'rewrap'),
    edit: own('Edit a file with encrypted values in your editor', edit, 'command'),
    list: own('List the names of the values in a file', secretValues, 'list'),
    get: own('Print one value of a file, decrypted', secretValues, 'get'),
    set: own('Set one value in a file, encrypted', secretValues, 'set'),
    unset: own('Remove a value from a file', secretValues, 'unset'),
    check: own('Find plaintext values that should be encrypted', secretCheck, 'command'),
    inject: own('Fill a template with decrypted values', secretInject, 'command'),
    'git-setup': own('Set up git to diff, merge and check encrypted values', gitSetup, 'command'),
    'git-textconv': hidden(own('Show a file in a diff', gitTextconv, 'command')),
    'git-merged': hidden(own('Say what a merge has left open', gitSetup, 'merged')),
    'git-merge': hidden(own('Merge a file', () => import('./commands/git-merge.ts'), 'command')),
  }),
};

const teamCommands: Readonly<Record<string, Node>> = {
  team: {
    ...group('team', {
      init: own('Create a keyring for a repository or a folder in it', teamInit, 'init'),
      trust: own('Confirm that the keyring of this clone is genuine', team, 'trust'),
      list: own('List the members and the keys', team, 'list'),
      add: own('Add a member and let them decrypt all values', teamChanges, 'add'),
      remove: own('Remove a member and re-encrypt everything', teamRemove, 'remove'),
      settle: own('Complete a git merge or an interrupted removal', teamChanges, 'settle'),
      unlock: own('Keep the keyring unlocked for a while', teamUnlock, 'unlock'),
      key: group('team key', {
        add: own('Add a key to the keyring', teamChanges, 'addKey'),
        rotate: own('Rotate a key: add a version', teamChanges, 'rotateKey'),
      }),
      check: own('Check the keyring for problems', team, 'check'),
      log: own('Show the changes to the keyring, with their authors', team, 'log'),
    }),
    details:
      'A keyring is a directory .coffer in a repository, with keys that only its members can open. To join: send an admin your public key, such as ~/.ssh/id_ed25519.pub. The admin runs "coffer team add NAME ' +
      'KEY", pushes, and tells you an ID. Then run "git pull", "coffer team trust ID", and "coffer secrets ' +
      'git-setup". To share values that were encrypted with a store: "coffer help sharing".',
    bare: 'list',
  },
};

const servingCommands: Readonly<Record<string, Node>> = {
  audit: group('audit', { show: own('List the requests in an audit log', audit, 'show') }),
  serve: own('Serve the store over HTTP', () => import('./commands/serve.ts'), 'command'),
  kms: own('Run a Kubernetes KMS v2 plugin', () => import('./commands/kms.ts'), 'command'),
  seal: own('Seal a server: lock it until it is unsealed', server, 'seal'),
  unseal: own('Unseal a server: unlock it with a secret', server, 'unseal'),
  health: own('Check the health of a server', server, 'health'),
  'serve-worker': hidden(own('Run a worker process of a server', serveWorker, 'command')),
  version: own('Show the version', storeless, 'version'),
  help: {
    summary: 'Show help for a command or a topic',
    load: async () => (await import('./commands/help.ts')).helpOn(commandTree),
  },
  completion: {
    summary: 'Print a shell completion script',
    load: async () => (await import('./commands/completion.ts')).completionOf(commandTree),
  },
  complete: {
    summary: 'Print names for a completion script',
    load: async () => (await import('./commands/complete.ts')).completeOf(commandTree),
    hidden: true,
  },
};

/** Sections of the first help page. It must fit on a screen, so less frequent commands are only named. */
const SECTIONS: readonly Section[] = [
  {
    title: 'Start here',
    listed: ['init', 'unlock', 'status'],
    named: ['lock', 'help', 'completion', 'version'],
  },
  { title: 'Keys and data', listed: ['transit'], named: [] },
  { title: 'Secrets in files', listed: ['secrets', 'edit', 'exec', 'team'], named: [] },
  { title: 'Signing', listed: ['sign', 'verify'], named: [] },
  { title: 'Tags', listed: ['tags', 'workspaces'], named: ['projects', 'orgs'] },
  {
    title: 'Servers and access',
    listed: ['serve', 'login', 'token', 'policy'],
    named: [
      ...['logout', 'auth', 'mounts', 'audit', 'health', 'seal', 'unseal', 'kms', 'unwrap'],
      ...['read', 'write', 'list', 'delete'],
    ],
  },
  {
    title: 'The store',
    listed: ['store', 'slots', 'agent', 'doctor'],
    named: ['passphrase', 'keygen', 'rekey'],
  },
];

/** Tree of all commands. Nothing is loaded before it is used. */
export const commandTree: Group = {
  summary:
    "Encrypt, sign and verify with named, versioned keys, and manage an organization's workspace tags, in a local encrypted store or on a server.",
  sections: SECTIONS,
  children: {
    ...storeCommands,
    ...branchOf([], catalogue),
    ...signingCommands,
    ...secretCommands,
    ...teamCommands,
    ...loginCommands,
    ...pathCommands,
    ...servingCommands,
  },
};

function group(path: string, children: Group['children']): Group {
  const summary = GROUP_SUMMARIES[path];
  if (summary === undefined) throw new Error(`the group "${path}" has no summary`);
  return { summary, children };
}

function branchOf(path: readonly string[], branch: CatalogueBranch): Group['children'] {
  const nodes: [string, Node][] = [];
  for (const [word, node] of Object.entries(branch)) {
    const here = [...path, word];
    if (isEntry(node)) {
      if (node.command) nodes.push([word, leafOf(here, node)]);
      continue;
    }
    const children = { ...branchOf(here, node), ...ADDED[here.join(' ')] };
    if (Object.keys(children).length > 0) nodes.push([word, group(here.join(' '), children)]);
  }
  return Object.fromEntries(nodes);
}

function leafOf(path: readonly string[], entry: CatalogueEntry<Operation>): CommandLeaf {
  return {
    summary: entry.summary,
    load: async () => commandOf(path, entry.summary, (await entry.load()).declaration),
  };
}
