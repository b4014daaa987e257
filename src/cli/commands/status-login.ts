import { isObject } from '../../ground/objects.ts';
import type { Runner } from '../../operations/declaration/operation.ts';
import { type Cell, timeCell } from '../../operations/declaration/table.ts';
import { tokenFor } from '../runner-remote.ts';
import type { Session } from '../session.ts';

/** Returns who is logged in to an unsealed server, as far as the token may look itself up. */
export async function loginFacts(
  session: Session,
  runner: Runner,
  address: string,
): Promise<readonly (readonly [name: string, value: Cell | undefined])[]> {
  // A token of the command line was given, and reading it again could ask for it again.
  const isGiven = session.settings.token.kind !== 'none';
  if (!isGiven && (await tokenFor(session, address)).token === undefined)
    return [['Logged in', 'no: run "coffer login"']];
  // The only request with the token: asking first whether it is allowed would take another use of a limited token.
  const answer = await runner.run('token lookup-self', {}).catch(() => undefined);
  const details = answer?.data;
  if (!isObject(details))
    return [['Logged in as', 'unknown: the token is not valid, or may not look itself up']];
  const { display_name: name, policies, expire_time: ends } = details;
  return [
    ['Logged in as', typeof name === 'string' && name !== '' ? name : 'token'],
    ['Policies', Array.isArray(policies) ? policies.map(String).join(', ') : undefined],
    ['Token expires', typeof ends === 'string' ? timeCell(ends) : 'never'],
  ];
}
