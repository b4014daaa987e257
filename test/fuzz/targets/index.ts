import type { Target } from '../target.ts';

type Loader = () => Promise<Readonly<Record<string, Target>>>;

/** Every target by its name, the longest first: with few processors it is best to begin with those. */
const LOADERS: Readonly<Record<string, Loader>> = {
  'sealed-files': () => import('./sealed-files.ts'),
  'command-lines': () => import('./command-lines.ts'),
  'key-backups': () => import('./key-backups.ts'),
  envelopes: () => import('./envelopes.ts'),
  requests: () => import('./requests.ts'),
  'store-directories': () => import('./store-directories.ts'),
  'store-backups': () => import('./store-backups.ts'),
  ciphertexts: () => import('./ciphertexts.ts'),
  sockets: () => import('./sockets.ts'),
  'pkcs11-door': () => import('./pkcs11-door.ts'),
  'secret-files': () => import('./secret-files.ts'),
  policies: () => import('./policies.ts'),
  certificates: () => import('./certificates.ts'),
  'client-certificates': () => import('./client-certificates.ts'),
  signatures: () => import('./signatures.ts'),
  'signed-tokens': () => import('./signed-tokens.ts'),
  'ssh-agent': () => import('./ssh-agent.ts'),
  'age-plugin': () => import('./age-plugin.ts'),
  'key-services': () => import('./key-services.ts'),
  trail: () => import('./trail.ts'),
  protobuf: () => import('./protobuf.ts'),
  'age-files': () => import('./age-files.ts'),
  imports: () => import('./imports.ts'),
  parameters: () => import('./parameters.ts'),
  texts: () => import('./texts.ts'),
};

export const targetNames: readonly string[] = Object.keys(LOADERS);

/** @throws for a name that no target has. */
export async function targetNamed(name: string): Promise<Target> {
  const load = Object.hasOwn(LOADERS, name) ? LOADERS[name] : undefined;
  const found = Object.values((await load?.()) ?? {}).find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`there is no target "${name}", but ${targetNames.join(', ')}`);
  return found;
}
