import { type Branch, catalogue, type Entry, isEntry } from '../operations/catalogue.ts';
import type { Operation } from '../operations/declaration/operation.ts';
import type { Command, Group, Leaf, Node } from './command.ts';
import { commandOf } from './operation-command.ts';

/** What the groups of the catalogue are for. */
const GROUP_SUMMARIES: Readonly<Record<string, string>> = {
  transit: 'Encrypt, decrypt, sign and verify with named, versioned keys',
  'transit keys': 'Named keys and their versions',
  'transit envelope': 'Files and streams of any size',
  orgs: 'Organizations',
  workspaces: 'Workspaces, which carry tags',
  tags: "The organization's pool of tags",
  token: 'Tokens of callers of a server',
  policy: 'Policies: what tokens may do',
  mounts: 'Transit mounts, each with keys of its own',
  slots: 'The ways to unlock the store',
  store: 'Back up the whole store, bring it back, move it',
};

/** A command of a file that may have several. */
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
const paths = () => import('./commands/paths.ts');
const serve = () => import('./commands/serve.ts');
const serveWorker = () => import('./commands/serve-worker.ts');
const complete = () => import('./commands/complete.ts');

/** Commands that no operation stands for: they work on the store as a whole, on files, or on the command line itself. */
const storeCommands: Readonly<Record<string, Node>> = {
  keygen: own('Print a fresh master key', storeless, 'keygen'),
  init: own('Make a new store', init, 'command'),
  status: own('Show where the store is, how it is unlocked, and what it holds', status, 'command'),
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

const pathCommands: Readonly<Record<string, Node>> = {
  read: own('Read a path of the API', paths, 'read'),
  write: own('Write to a path of the API', paths, 'write'),
  list: own('List what is below a path of the API', paths, 'list'),
  delete: own('Delete a path of the API', paths, 'remove'),
};

const servingCommands: Readonly<Record<string, Node>> = {
  serve: own('Offer the store over HTTP', serve, 'command'),
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

/** Every command at its place, in the order in which help lists them. Nothing is loaded before it is used. */
export const commandTree: Group = {
  summary: 'Transit encryption and an organization tag pool in one command, on a local sealed store.',
  children: {
    ...storeCommands,
    ...withEnvelope(branchOf([], catalogue)),
    ...pathCommands,
    ...servingCommands,
  },
};

function group(path: string, children: Group['children']): Group {
  return { summary: GROUP_SUMMARIES[path] ?? '', children };
}

function withEnvelope(children: Group['children']): Group['children'] {
  const { transit } = children;
  if (transit === undefined || !('children' in transit)) return children;
  return { ...children, transit: { ...transit, children: { ...transit.children, envelope } } };
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
