import type { TokenIdentity } from './access.ts';
import { Acl } from './acl.ts';
import type { PathRule } from './path-rule.ts';

/**
 * Creates the identity of programs that use an agent protocol: a token without a secret, whose policy is the protocol's
 * offers.
 * @param rules offers in the form of policy rules
 */
export function doorIdentity(door: string, rules: readonly PathRule[]): TokenIdentity {
  const name = `door/${door}`;
  // Names of policies and accessors of tokens contain no slash, so this name is unique.
  return { accessor: name, displayName: name, policies: [name], acl: new Acl(rules) };
}
