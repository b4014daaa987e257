/** What the owner of a store does for tests: issues tokens and writes policies. */
import { create as createToken } from '../../src/operations/access/token-create.ts';
import { openCore } from '../../src/operations/core.ts';
import { type Call, owner } from '../../src/operations/declaration/operation.ts';
import { parseValues } from '../../src/operations/declaration/params.ts';
import { write as writePolicy } from '../../src/operations/sys/policies.ts';
import type { SealedStore } from '../../src/store/sealed/sealed-store.ts';

export const ownersCall = (store: SealedStore): Call => ({
  core: openCore(store),
  caller: owner,
  mount: 'transit',
});

/** Without policies it may do everything. */
export async function issueToken(
  call: Call,
  raw: Readonly<Record<string, unknown>>,
): Promise<{ readonly token: string; readonly accessor: string }> {
  const { auth } = await createToken.run(call, parseValues(createToken.params, raw).values);
  const { client_token: token, accessor } = auth as { client_token: string; accessor: string };
  return { token, accessor };
}

/** Writes a policy in Vault's form. */
export async function setPolicy(call: Call, name: string, policy: string): Promise<void> {
  await writePolicy.run(call, parseValues(writePolicy.params, { name, policy }).values);
}
