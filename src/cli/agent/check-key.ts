import type { AgentDoorKind } from '../../doors/agent/agent-door.ts';
import { unsupported } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import { type Runner, resultOf } from '../../operations/declaration/operation.ts';

/**
 * Checks that a key exists and that the protocols can use it.
 * @throws `not-found` if it does not exist; `unsupported` if a protocol cannot use keys of its type
 */
export async function checkKey(runner: Runner, kinds: readonly AgentDoorKind[], key: string): Promise<void> {
  const data = resultOf(await runner.run('transit keys read', { name: key }));
  const told = isObject(data) ? data : {};
  const facts = { type: String(told['type']), derived: told['derived'] === true };
  for (const kind of kinds) {
    const why = kind.refusal(facts);
    if (why !== undefined)
      throw unsupported(`${key} can't be offered to ${kind.name}: ${why}`, { field: 'key' });
  }
}
