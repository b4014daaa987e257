import { describe, expect, it } from 'vitest';
import { consentToLess } from '../../../src/cli/secret-files/left-readable.ts';
import { Rulebook } from '../../../src/cli/secret-files/rulebook.ts';
import { dotenv } from '../../../src/secret-files/dotenv.ts';
import { rejectionOf } from '../../reference/thrown.ts';
import { answeredSession } from '../answering.ts';

/** A file of so many values that the last commit encrypts, and the rules now leave readable. */
function plan(count: number) {
  const text = (value: string): string =>
    Array.from({ length: count }, (_, index) => `N${index}=${value}\n`).join('');
  const sealed = text('coffer:app:v1:aG9zdGlsZSBpbnB1dCBvZiBzb21lYm9keSBlbHNl');
  return {
    path: '/nowhere/app.env',
    file: dotenv.parse(text('x'), 'app.env'),
    key: undefined,
    places: [],
    committed: dotenv.parse(sealed, 'app.env'),
  };
}

describe('values that the last commit encrypts, and the rules no longer do', () => {
  it.each([
    [1, 1, ''],
    [10, 10, ''],
    [11, 10, '; and 1 more'],
  ])('are refused where nobody can be asked: %i of them, %i by name', async (count, named, more) => {
    const { session } = answeredSession(() => undefined);
    const names = Array.from(
      { length: named },
      (_, index) => `N${index} of /nowhere/app.env would be readable`,
    );
    expect(
      await rejectionOf(consentToLess(session, new Rulebook(session), [plan(count)], false)),
    ).toMatchObject({
      kind: 'conflict',
      message: `.coffer.yaml no longer encrypts values as in the last commit: ${names.join('; ')}${more}`,
      hint: 'review the changes to .coffer.yaml; if they are right, use --yes',
    });
  });

  it.each([true, false])('are asked about where somebody can be asked, who answers %j', async (answer) => {
    const { session, asked } = answeredSession(() => undefined, {}, { answers: [answer] });
    expect(await consentToLess(session, new Rulebook(session), [plan(1)], false)).toBe(answer);
    expect(asked).toEqual([
      '.coffer.yaml no longer encrypts values as in the last commit: N0 of /nowhere/app.env would be readable. Continue?',
    ]);
  });

  it('are left readable with --yes', async () => {
    const { session } = answeredSession(() => undefined, { yes: true });
    expect(await consentToLess(session, new Rulebook(session), [plan(1)], false)).toBe(true);
  });

  it.each([
    [{ mount: 'transit', name: 'app' }, false, undefined],
    [
      { mount: 'transit', name: 'other' },
      false,
      'N0 of /nowhere/app.env would change from key "app" to "other"',
    ],
    [{ mount: 'team', name: 'app' }, false, 'N0 of /nowhere/app.env would change from key "app" to "app"'],
    [{ mount: 'team', name: 'other' }, true, undefined],
  ])('are those that would get another key, unless the user names it: %j %j', async (key, isNamed, lost) => {
    const { session } = answeredSession(() => undefined);
    const before = plan(1);
    const encrypted = { ...before, key, places: before.file.places };
    const consent = consentToLess(session, new Rulebook(session), [encrypted], isNamed);
    if (lost === undefined) expect(await consent).toBe(true);
    else
      expect(await rejectionOf(consent)).toMatchObject({
        kind: 'conflict',
        message: `.coffer.yaml no longer encrypts values as in the last commit: ${lost}`,
      });
  });
});
