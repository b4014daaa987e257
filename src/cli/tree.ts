import { type Branch, catalogue, type Entry, isEntry } from '../operations/catalogue.ts';
import type { Operation } from '../operations/declaration/operation.ts';
import { AGENT_PROCESS } from './agent/agent-process.ts';
import type { Command, Group, Leaf, Node, Section } from './command.ts';
import { commandOf } from './operation-command.ts';

/** Summaries of the groups of the catalogue. */
const GROUP_SUMMARIES: Readonly<Record<string, string>> = {
  transit: 'Encrypt, decrypt, sign and verify with named, versioned keys',
  'transit keys': 'Named keys and their versions',
  'transit envelope': 'Files and streams of any size',
  orgs: 'Organizations',
  workspaces: 'Workspaces, which carry tags',
  projects: 'Projects, which hold workspaces and give them tags',
  tags: "The organization's pool of tags",
  'tags reserved': 'Keys of KEY=VALUE tags that have a meaning',
  token: 'Tokens of callers of a server',
  policy: 'Policies: what tokens may do',
  mounts: 'Transit mounts, each with keys of its own',
  auth: 'Login methods',
  'auth approle': 'Roles of programs, which log in with a secret ID',
  'auth cert': 'Programs, which log in with a certificate of their connection',
  'auth jwt': 'Jobs and programs, which log in with a signed token of their platform',
  'auth userpass': 'People, who log in with a password',
  'token roles': 'What may be made of tokens by whoever may use a role',
  agent: 'A store that stays unlocked for a while',
  slots: 'The ways to unlock the store',
  secrets: 'Values in .env, YAML and JSON files, encrypted one by one',
  team: 'The keyring of a repository: who opens its secrets, without a server',
  'team key': 'The keys of a keyring',
  store: 'Back up the whole store, bring it back, move it',
};

/** Declares a command of a file that may have several. */
const own = <Name extends string>(
  summary: string,
  load: () => Promise<Readonly<Record<Name, Command>>>,
  name: Name,
): Leaf => ({ summary, load: async () => (await load())[name] });

const storeless = () => import('./commands/storeless.ts');
const init = () => import('./commands/init.ts');
const status = () => import('./commands/status.ts');
const slots = () => import('./commands/slots.ts');
const store = () => import('./commands/store.ts');
const envelopes = () => import('./commands/envelope.ts');
const envelopeHeader = () => import('./commands/envelope-header.ts');
const envelopeRewrap = () => import('./commands/envelope-rewrap.ts');
const keysPublic = () => import('./commands/keys-public.ts');
const sign = () => import('./commands/sign.ts');
const sshKeygen = () => import('./commands/ssh-keygen.ts');
const verify = () => import('./commands/verify.ts');
const paths = () => import('./commands/paths.ts');
const secretFiles = () => import('./commands/secret-files.ts');
const secretValues = () => import('./commands/secret-values.ts');
const secretCheck = () => import('./commands/secret-check.ts');
const secretInject = () => import('./commands/secret-inject.ts');
const login = () => import('./commands/login.ts');
const serve = () => import('./commands/serve.ts');
const server = () => import('./commands/server.ts');
const serveWorker = () => import('./commands/serve-worker.ts');
const unlock = () => import('./commands/unlock.ts');
const agent = () => import('./commands/agent.ts');
const agentOffers = () => import('./commands/agent-offers.ts');
const agentRun = () => import('./commands/agent-run.ts');
const edit = () => import('./commands/edit.ts');
const gitSetup = () => import('./commands/git-setup.ts');
const gitTextconv = () => import('./commands/git-textconv.ts');
const gitMerge = () => import('./commands/git-merge.ts');
const exec = () => import('./commands/exec.ts');
const tagsBulk = () => import('./commands/tags-bulk.ts');
const tagsDelete = () => import('./commands/tags-delete.ts');
const tagsFile = () => import('./commands/tags-file.ts');
const tagsOf = () => import('./commands/tags-of.ts');
const tagsPrune = () => import('./commands/tags-prune.ts');
const workspacesList = () => import('./commands/workspaces-list.ts');
const workspacesTag = () => import('./commands/workspaces-tag.ts');
const tagsShow = () => import('./commands/tags-show.ts');
const kms = () => import('./commands/kms.ts');
const agePlugin = () => import('./commands/age-plugin.ts');
const team = () => import('./commands/team.ts');
const teamInit = () => import('./commands/team-init.ts');
const teamChanges = () => import('./commands/team-changes.ts');
const complete = () => import('./commands/complete.ts');

/** Commands without an operation: they work on the store as a whole, on files, or on the command line itself. */
const storeCommands: Readonly<Record<string, Node>> = {
  keygen: own('Print a fresh master key', storeless, 'keygen'),
  init: own('Make a new store', init, 'command'),
  status: own('Show where the store is, how it is unlocked, and what it holds', status, 'command'),
  unlock: own('Keep the store unlocked for a while', unlock, 'unlock'),
  lock: own('Lock the store again at once', unlock, 'lock'),
  agent: group('agent', {
    status: own('Show whether the store is unlocked, and until when', agent, 'status'),
    env: own('Print the variables with which other programs find the agent', agent, 'env'),
    run: own('Run the agent in the foreground', agentRun, 'run'),
    offer: own('Let other programs use a key through the agent', agentOffers, 'offer'),
    withdraw: own('Let other programs use a key no more', agentOffers, 'withdraw'),
    list: own('List the keys that other programs may use', agentOffers, 'list'),
  }),
  [AGENT_PROCESS]: { ...own('The agent in the background', agentRun, 'inBackground'), hidden: true },
  slots: group('slots', {
    list: own('List the ways to unlock the store', slots, 'list'),
    add: own('Add a way to unlock the store', slots, 'add'),
    remove: own('Remove a way to unlock the store', slots, 'remove'),
  }),
  rekey: own('Replace the root key and seal everything again', slots, 'rekey'),
  doctor: own('Check every document of the store', store, 'doctor'),
  store: group('store', {
    backup: own('Write the whole store to one file', store, 'backup'),
    restore: own('Bring a store back from a backup', store, 'restore'),
    copy: own('Copy a whole store to another place', store, 'copy'),
    accept: own('Go on with a store that is behind what was seen of it', store, 'accept'),
    migrate: own('Make or update the tables of a store in PostgreSQL', store, 'migrate'),
  }),
};

const envelope = group('transit envelope', {
  encrypt: own('Encrypt a file or stream of any size', envelopes, 'encrypt'),
  decrypt: own('Decrypt what "envelope encrypt" wrote', envelopes, 'decrypt'),
  header: own('Show what an encrypted file says about itself', envelopeHeader, 'command'),
  rewrap: own('Move an encrypted file to the latest version of its key', envelopeRewrap, 'command'),
});

const signingCommands: Readonly<Record<string, Node>> = {
  sign: own('Sign files for others to verify', sign, 'command'),
  verify: own('Verify a file with its signature, without a store', verify, 'command'),
  'age-plugin': { ...own('What age-plugin-coffer is', agePlugin, 'command'), hidden: true },
  'ssh-keygen': { ...own('Sign and verify for git, as ssh-keygen does', sshKeygen, 'command'), hidden: true },
};

const loginCommands: Readonly<Record<string, Node>> = {
  login: own('Log in to a server, and keep the token for later commands', login, 'login'),
  logout: own('End and forget the token that "coffer login" has kept', login, 'logout'),
};

const pathCommands: Readonly<Record<string, Node>> = {
  read: own('Read a path of the API', paths, 'read'),
  write: own('Write to a path of the API', paths, 'write'),
  list: own('List what is below a path of the API', paths, 'list'),
  delete: own('Delete a path of the API', paths, 'remove'),
};

/** Commands for values in files, and for programs that use them. */
const secretCommands: Readonly<Record<string, Node>> = {
  edit: own('Edit a file with encrypted values', edit, 'command'),
  exec: own('Run a program with decrypted variables', exec, 'command'),
  secrets: group('secrets', {
    encrypt: own('Encrypt the values of files', secretFiles, 'encrypt'),
    decrypt: own('Decrypt the values of files', secretFiles, 'decrypt'),
    rewrap: own('Move the values of files to the latest version of their keys', secretFiles, 'rewrap'),
    edit: own('Edit a file with encrypted values', edit, 'command'),
    get: own('Print one value', secretValues, 'get'),
    set: own('Set one value', secretValues, 'set'),
    unset: own('Take one value out of a file', secretValues, 'unset'),
    check: own('Find what should be encrypted and is not', secretCheck, 'command'),
    inject: own('Fill values into a text', secretInject, 'command'),
    'git-setup': own('Show, merge and check encrypted values in a git repository', gitSetup, 'command'),
    'git-textconv': { ...own('Show a file in a diff', gitTextconv, 'command'), hidden: true },
    'git-merge': { ...own('Merge a file', gitMerge, 'command'), hidden: true },
  }),
};

const teamCommands: Readonly<Record<string, Node>> = {
  team: {
    ...group('team', {
      init: own('Make a keyring for a repository, or for a folder of it', teamInit, 'init'),
      trust: own('Say that the keyring of this clone is the right one', team, 'trust'),
      list: own('Show who is in, and the keys', team, 'list'),
      add: own('Let somebody in', teamChanges, 'add'),
      remove: own('Take somebody out, and encrypt everything anew', teamChanges, 'remove'),
      settle: own('Do what a merge has left to be done', teamChanges, 'settle'),
      key: group('team key', {
        add: own('Make a further key', teamChanges, 'addKey'),
        rotate: own('Make a new version of a key', teamChanges, 'rotateKey'),
      }),
      check: own('Look for what should not be', team, 'check'),
      log: own('Show what was done, by whom', team, 'log'),
    }),
    bare: 'list',
  },
};

const servingCommands: Readonly<Record<string, Node>> = {
  serve: own('Offer the store over HTTP', serve, 'command'),
  kms: own('Encrypt the secrets of Kubernetes', kms, 'command'),
  seal: own('Have a server forget its key', server, 'seal'),
  unseal: own('Bring a sealed server its key', server, 'unseal'),
  health: own('Ask whether a server works', server, 'health'),
  'serve-worker': { ...own('A further process of a server', serveWorker, 'command'), hidden: true },
  version: own('Show the version', storeless, 'version'),
  help: {
    summary: 'Show help for a command or a topic',
    load: async () => (await import('./commands/help.ts')).helpOn(commandTree),
  },
  completion: {
    summary: 'Print the completion script of a shell',
    load: async () => (await import('./commands/completion.ts')).completionOf(commandTree),
  },
  complete: { ...own('Print names for a completion script', complete, 'command'), hidden: true },
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
      ...['logout', 'auth', 'mounts', 'health', 'seal', 'unseal', 'kms', 'unwrap'],
      ...['read', 'write', 'list', 'delete'],
    ],
  },
  { title: 'The store', listed: ['store', 'slots', 'agent', 'doctor'], named: ['keygen', 'rekey'] },
];

/** Tree of all commands. Nothing is loaded before it is used. */
export const commandTree: Group = {
  summary: 'Transit encryption and an organization tag pool in one command, on a local sealed store.',
  sections: SECTIONS,
  children: {
    ...storeCommands,
    ...withOwnParts(branchOf([], catalogue)),
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

/** Adds the commands without an operation to the groups of the catalogue. */
function withOwnParts(children: Group['children']): Group['children'] {
  return within(withWorkspaceParts(withTransitParts(children)), 'tags', (tags) => ({
    ...tags,
    show: own('Show a tag and where it is used', tagsShow, 'command'),
    attach: own('Put a tag on workspaces or keys', tagsBulk, 'attach'),
    detach: own('Take a tag off workspaces or keys', tagsBulk, 'detach'),
    of: own('List the tags of a workspace or key', tagsOf, 'command'),
    delete: own('Delete tags from the pool and off every workspace and key', tagsDelete, 'command'),
    prune: own('Delete the tags that no workspace carries', tagsPrune, 'command'),
    export: own('Write all tags and workspaces to a file', tagsFile, 'exportTags'),
    import: own('Add what a file says', tagsFile, 'importTags'),
    apply: own('Make workspaces carry what a file says', tagsFile, 'apply'),
  }));
}

function withWorkspaceParts(children: Group['children']): Group['children'] {
  return within(children, 'workspaces', (workspaces) => ({
    ...workspaces,
    list: own('List or find workspaces', workspacesList, 'command'),
    tag: own('Put tags on a workspace, making those that are missing', workspacesTag, 'command'),
  }));
}

function withTransitParts(children: Group['children']): Group['children'] {
  return within(children, 'transit', (transit) => ({
    ...within(transit, 'keys', (keys) => ({
      ...keys,
      public: own('Print public keys for other programs', keysPublic, 'command'),
    })),
    envelope,
  }));
}

function within(
  children: Group['children'],
  word: string,
  change: (children: Group['children']) => Group['children'],
): Group['children'] {
  const found = children[word];
  if (found === undefined || !('children' in found)) return children;
  return { ...children, [word]: { ...found, children: change(found.children) } };
}

function branchOf(path: readonly string[], branch: Branch): Group['children'] {
  const nodes: [string, Node][] = [];
  for (const [word, node] of Object.entries(branch)) {
    const here = [...path, word];
    if (isEntry(node)) {
      if (node.command) nodes.push([word, leafOf(here, node)]);
      continue;
    }
    const children = branchOf(here, node);
    if (Object.keys(children).length > 0) nodes.push([word, group(here.join(' '), children)]);
  }
  return Object.fromEntries(nodes);
}

function leafOf(path: readonly string[], entry: Entry<Operation>): Leaf {
  return {
    summary: entry.summary,
    load: async () => commandOf(path, entry.summary, (await entry.load()).declaration),
  };
}
