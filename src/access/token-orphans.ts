import { invalid } from '../ground/errors.ts';
import { ownWords } from '../ground/own-words.ts';
import { Pace } from '../ground/pace.ts';
import type { Store, View } from '../store/store.ts';
import type { Token, TokenRecord } from './token.ts';
import { erase, listTokens, PAGE_TOKENS, replaceToken, tokenAt } from './token-documents.ts';

/**
 * Revokes a token without its children, which become orphans. All tokens are scanned without holding the write lock:
 * the transaction itself only reads the children found, and tokens created in the meantime.
 * @throws `invalid` if it does not exist
 */
export async function revokeAlone(store: Store, accessor: string): Promise<void> {
  if ((await store.read((view) => tokenAt(view, accessor))) === undefined) throw notThere();
  const { seen, issued } = await lookThrough(store, accessor);
  await store.transact(
    async (tx) => {
      const token = await tokenAt(tx, accessor);
      if (token === undefined || !(await erase(tx, accessor))) throw notThere();
      const fresh = (await listTokens(tx)).filter((other) => !seen.has(other));
      for (const child of await issuedBy(tx, accessor, [...issued, ...fresh])) {
        // Another token of the same text issued what is dead already.
        if (child.token.parentSerial !== token.serial) continue;
        const { parent: _, parentSerial: _serial, ...orphan } = child.token;
        replaceToken(tx, child.accessor, orphan satisfies Token);
      }
    },
    { alone: true },
  );
}

const notThere = () => invalid(ownWords('token to revoke not found'), { field: 'token' });

/**
 * Scans all tokens, some at a time.
 * @returns all accessors, and the children of a token
 */
async function lookThrough(store: Store, parent: string) {
  const seen = new Set<string>();
  const issued: string[] = [];
  for (let after = ''; ; ) {
    const page = await store.read(async (view) => {
      const accessors = await listTokens(view, { after, limit: PAGE_TOKENS });
      return { accessors, issued: await issuedBy(view, parent, accessors) };
    });
    const last = page.accessors.at(-1);
    if (last === undefined) return { seen, issued };
    for (const accessor of page.accessors) seen.add(accessor);
    issued.push(...page.issued.map(({ accessor }) => accessor));
    after = last;
  }
}

async function issuedBy(
  view: View,
  parent: string,
  among: readonly string[],
): Promise<readonly TokenRecord[]> {
  const found: TokenRecord[] = [];
  const pace = new Pace();
  for (const accessor of among) {
    const token = await tokenAt(view, accessor);
    if (token?.parent === parent) found.push({ accessor, token });
    await pace.step();
  }
  return found;
}
