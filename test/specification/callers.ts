import { issueToken, setPolicy } from '../servers/serving.ts';
import { HttpSide, type Side } from './sides.ts';

let count = 0;

/** The same server asked by somebody who may do what a policy says, and nothing else. */
export async function issuedFor(side: Side, policy: string): Promise<Side> {
  if (!(side instanceof HttpSide)) throw new Error('only requests have callers');
  const { server } = side;
  const name = `spec-${++count}`;
  await setPolicy(server.directory, name, policy);
  const token = await issueToken(server.directory, { policies: [name] });
  return new HttpSide({ ...server, token });
}
