import { expect, it } from 'vitest';
import { jobToken } from '../../../src/cli/logins/job-token.ts';
import { refused } from '../../refusal.ts';

const asked = (url: string) =>
  refused(
    jobToken(
      { ACTIONS_ID_TOKEN_REQUEST_URL: url, ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'bearer' },
      { audience: 'https://coffer.example' },
    ),
  );
const FIELD = 'ACTIONS_ID_TOKEN_REQUEST_URL';

it('the token of a CI job is asked for nowhere if the variable has no URL, or one that others could read along', async () => {
  for (const text of ['nonsense', '/token', 'https://'])
    expect(await asked(text)).toEqual({ kind: 'invalid', message: 'invalid URL', field: FIELD });
  expect(await asked('http://token.example/x?y=1')).toEqual({
    kind: 'denied',
    message:
      'the connection to http://token.example is not encrypted, so the token of the CI job was not requested',
    field: FIELD,
  });
});
