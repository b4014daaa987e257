import { bitOf } from '../../access/capability.ts';
import type { Offer } from '../../access/doors.ts';
import type { PathRule } from '../../access/path-rule.ts';
import { printPath, routesOf } from '../../operations/declaration/route.ts';
import { loadOperation } from '../../operations/runner.ts';
import type { AgentDoorKind } from './agent-door.ts';

/** Converts offers to policy rules: the paths of the operations that the uses require, only for these keys. */
export async function rulesOf(kind: AgentDoorKind, offers: readonly Offer[]): Promise<readonly PathRule[]> {
  const rules = await Promise.all(offers.map((offer) => rulesOfOne(kind, offer)));
  return rules.flat();
}

async function rulesOfOne({ uses, needs }: AgentDoorKind, offer: Offer): Promise<readonly PathRule[]> {
  const words = new Set([
    ...needs,
    ...offer.uses.flatMap((use) => (Object.hasOwn(uses, use) ? (uses[use]?.operations ?? []) : [])),
  ]);
  const operations = await Promise.all([...words].map(loadOperation));
  return operations.flatMap((operation) =>
    routesOf(operation).map((route) => {
      const path = printPath(route, (param) => (param === 'name' ? offer.key : undefined));
      return {
        pattern: `${offer.mount}/${path}`,
        permissions: { capabilities: bitOf(operation.capability) },
      };
    }),
  );
}
