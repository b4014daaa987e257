import type { TokenIdentity } from './access.ts';
import { Acl } from './acl.ts';
import type { PathRule } from './path-rule.ts';

/**
 * Who asks when a program comes through a door: a token without a secret, whose policy is what is offered there.
 * @param rules what is offered, as a policy would say it.
 */
export function doorIdentity(door: string, rules: readonly PathRule[]): TokenIdentity {
  const name = `door/${door}`;
  // No policy and no accessor of a token has a slash in it.
  return { accessor: name, displayName: name, policies: [name], acl: new Acl(rules) };
}
