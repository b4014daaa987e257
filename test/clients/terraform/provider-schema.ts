/**
 * What Terraform's provider can set of that which is served here: from its published schema to test/vectors/terraform-provider-vault.json, by which
 * `npm test` walks.
 */

import { readFileSync } from 'node:fs';

/** Resources whose requests are served here. */
const RESOURCES: readonly string[] = [
  'vault_approle_auth_backend_login',
  'vault_approle_auth_backend_role',
  'vault_approle_auth_backend_role_secret_id',
  'vault_audit_request_header',
  'vault_auth_backend',
  'vault_cert_auth_backend_role',
  'vault_jwt_auth_backend',
  'vault_jwt_auth_backend_role',
  'vault_mount',
  'vault_policy',
  'vault_quota_config',
  'vault_quota_rate_limit',
  'vault_sys_config_cors',
  'vault_token',
  'vault_token_auth_backend_role',
  'vault_transit_secret_backend_key',
  'vault_transit_secret_cache_config',
];

/** Of the answer to `terraform providers schema -json`, as much as is read here. */
interface Published {
  readonly provider_schemas: Readonly<
    Record<string, { readonly resource_schemas: Readonly<Record<string, { readonly block: Block }>> }>
  >;
}

interface Block {
  readonly attributes?: Readonly<Record<string, Attribute>>;
  readonly block_types?: Readonly<Record<string, { readonly block: Block }>>;
}

interface Attribute {
  readonly type?: Type;
  readonly required?: boolean;
  readonly optional?: boolean;
}

/** `string`, `["set", "string"]`, `["list", ["object", {…}]]` and so on. */
type Type = string | readonly [string, Type] | readonly ['object', Readonly<Record<string, Type>>];

/** Each member that can be set, with its type in words; those of an object have its name and a dot before. */
export type Members = Readonly<Record<string, string>>;

/** Resources with their members, as the file has them. */
export type Settable = Readonly<Record<string, Members>>;

/** @param json as `terraform providers schema -json` prints it, of `hashicorp/vault`. */
export function settable(json: string): Settable {
  const { provider_schemas: providers } = JSON.parse(json) as Published;
  const provider = Object.entries(providers).find(([name]) => name.endsWith('/hashicorp/vault'))?.[1];
  if (provider === undefined) throw new Error('there is no schema of hashicorp/vault');
  return Object.fromEntries(
    RESOURCES.map((name) => {
      const resource = provider.resource_schemas[name];
      if (resource === undefined) throw new Error(`the provider has no ${name}`);
      return [name, Object.fromEntries(membersOf(resource.block).sort(([a], [b]) => (a < b ? -1 : 1)))];
    }),
  );
}

function membersOf({ attributes = {}, block_types: blocks = {} }: Block): [string, string][] {
  const plain = Object.entries(attributes)
    .filter(([name, { required, optional }]) => (required || optional) && name !== 'id')
    .flatMap(([name, { type = 'dynamic' }]) => ofType(name, type));
  const nested = Object.entries(blocks).flatMap(([name, { block }]) =>
    membersOf(block).map(([member, type]): [string, string] => [`${name}.${member}`, type]),
  );
  return [...plain, ...nested];
}

function ofType(name: string, type: Type): [string, string][] {
  if (typeof type === 'string') return [[name, type]];
  const [kind, inner] = type;
  if (kind === 'object' && typeof inner === 'object' && !Array.isArray(inner)) {
    const members = inner as Readonly<Record<string, Type>>;
    return Object.entries(members).flatMap(([member, of]) => ofType(`${name}.${member}`, of));
  }
  const [first] = inner as readonly Type[];
  if (typeof inner !== 'string' && first === 'object') return ofType(name, inner as Type);
  return [[name, `${kind} of ${typeof inner === 'string' ? inner : JSON.stringify(inner)}`]];
}

if (import.meta.main) process.stdout.write(`${JSON.stringify(settable(readFileSync(0, 'utf8')), null, 2)}\n`);
