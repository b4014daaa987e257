import { expect, it } from 'vitest';
import { catalogue } from '../../src/operations/catalogue.ts';
import type { Method } from '../../src/operations/declaration/route.ts';
import { loadRoutes } from '../../src/operations/routes.ts';

/** The capability that Vault's methods stand for (Vault documentation, policies). */
const USUAL: Readonly<Record<Method, string>> = {
  GET: 'read',
  LIST: 'list',
  POST: 'update',
  PATCH: 'update',
  DELETE: 'delete',
};

/** What needs another one, and the operations of Vault's root-protected paths. */
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  create: ['orgs.create', 'projects.create', 'tags.create', 'tags.reserved.create', 'workspaces.create'],
  delete: ['workspaces.delete'],
  list: [
    'orgs.list',
    'projects.bindings',
    'projects.effective',
    'projects.list',
    'tags.list',
    'tags.of',
    'tags.reserved.list',
    'tags.where',
    'workspaces.bindings',
    'workspaces.effective',
    'workspaces.list',
    'workspaces.state-consumers.list',
  ],
  read: ['policy.list-legacy', 'token.lookup-self', 'wrapping.lookup'],
  sudo: [
    'audit.disable',
    'audit.enable',
    'audit.list',
    'auth.disable',
    'auth.enable',
    'auth.read',
    'auth.tune',
    'auth.tuning',
    'leases.list',
    'mounts.move',
    'sys.audited-header',
    'sys.audited-headers',
    'sys.capabilities-holders',
    'sys.cors',
    'sys.delete-audited-header',
    'sys.delete-cors',
    'sys.seal',
    'sys.set-audited-header',
    'sys.set-cors',
    'token.list',
    'token.revoke-prefix',
  ],
  update: [
    'auth.approle.destroy-accessor',
    'auth.approle.destroy-secret-id',
    'projects.unbind',
    'tags.detach',
    'workspaces.state-consumers.remove',
    'workspaces.unbind',
    'workspaces.untag',
  ],
};

it('each operation needs the capability of its method, but for these', async () => {
  const others = new Map<string, Set<string>>();
  for (const { name, operation, route } of await loadRoutes(catalogue)) {
    const { capability } = operation;
    if (capability !== USUAL[route.method])
      others.set(capability, (others.get(capability) ?? new Set()).add(name));
  }
  expect(
    Object.fromEntries([...others].map(([capability, names]) => [capability, [...names].sort()])),
  ).toEqual(OTHERS);
});
