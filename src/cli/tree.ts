import { type Branch, catalogue, type Entry, isEntry } from '../operations/catalogue.ts';
import type { Operation } from '../operations/declaration/operation.ts';
import type { Group, Leaf, Node } from './command.ts';
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

const own = (summary: string, load: Leaf['load']): Leaf => ({ summary, load });

/** Commands that no operation stands for: they work on the store as a whole, on files, or on the command line itself. */
const storeCommands: Readonly<Record<string, Node>> = {
  keygen: own('Print a fresh master key', async () => (await import('./commands/storeless.ts')).keygen),
  init: own('Make a new store', async () => (await import('./commands/init.ts')).command),
  status: own(
    'Show where the store is, how it is unlocked, and what it holds',
    async () => (await import('./commands/status.ts')).command,
  ),
  slots: group('slots', {
    list: own('List the ways to unlock the store', async () => (await import('./commands/slots.ts')).list),
    add: own('Add a way to unlock the store', async () => (await import('./commands/slots.ts')).add),
    remove: own('Remove a way to unlock the store', async () => (await import('./commands/slots.ts')).remove),
  }),
  rekey: own(
    'Replace the root key and seal everything again',
    async () => (await import('./commands/slots.ts')).rekey,
  ),
  doctor: own('Check every document of the store', async () => (await import('./commands/store.ts')).doctor),
  store: group('store', {
    backup: own(
      'Write the whole store to one file',
      async () => (await import('./commands/store.ts')).backup,
    ),
    restore: own(
      'Bring a store back from a backup',
      async () => (await import('./commands/store.ts')).restore,
    ),
    copy: own('Copy a whole store to another place', async () => (await import('./commands/store.ts')).copy),
    migrate: own(
      'Make or update the tables of a store in PostgreSQL',
      async () => (await import('./commands/store.ts')).migrate,
    ),
  }),
};

const envelope = group('transit envelope', {
  encrypt: own(
    'Encrypt a file or stream of any size',
    async () => (await import('./commands/envelope.ts')).encrypt,
  ),
  decrypt: own(
    'Decrypt what "envelope encrypt" wrote',
    async () => (await import('./commands/envelope.ts')).decrypt,
  ),
  header: own(
    'Show what an encrypted file says about itself',
    async () => (await import('./commands/envelope-header.ts')).command,
  ),
  rewrap: own(
    'Move an encrypted file to the latest version of its key',
    async () => (await import('./commands/envelope-rewrap.ts')).command,
  ),
});

const pathCommands: Readonly<Record<string, Node>> = {
  read: own('Read a path of the API', async () => (await import('./commands/paths.ts')).read),
  write: own('Write to a path of the API', async () => (await import('./commands/paths.ts')).write),
  list: own('List what is below a path of the API', async () => (await import('./commands/paths.ts')).list),
  delete: own('Delete a path of the API', async () => (await import('./commands/paths.ts')).remove),
};

const servingCommands: Readonly<Record<string, Node>> = {
  serve: own('Offer the store over HTTP', async () => (await import('./commands/serve.ts')).command),
  'serve-worker': {
    ...own('A further process of a server', async () => (await import('./commands/serve-worker.ts')).command),
    hidden: true,
  },
  version: own('Show the version', async () => (await import('./commands/storeless.ts')).version),
  help: own('Show help for a command or a topic', async () =>
    (await import('./commands/help.ts')).helpOn(commandTree),
  ),
  completion: own('Print the completion script of a shell', async () =>
    (await import('./commands/completion.ts')).completionOf(commandTree),
  ),
  complete: {
    ...own(
      'Print names for a completion script',
      async () => (await import('./commands/complete.ts')).command,
    ),
    hidden: true,
  },
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
