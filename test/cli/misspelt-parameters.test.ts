import { describe, expect, it } from 'vitest';
import { nearest } from '../../src/ground/nearness.ts';
import { misspeltParameters } from '../../src/operations/by-path.ts';
import { catalogue } from '../../src/operations/catalogue.ts';
import { routesOf } from '../../src/operations/declaration/route.ts';
import { loadRoutes } from '../../src/operations/routes.ts';
import { DirectoryHere } from './directory-here.ts';

describe('a misspelt parameter of coffer write', () => {
  it('is named with the one that was meant, before the error about that', async () => {
    const here = await DirectoryHere.withStore();
    const warning =
      'coffer: warning: KEY=VALUE: unknown parameter "plaintxt" is ignored; did you mean "plaintext"?\n';
    const failed = await here.run('write transit/encrypt/app plaintxt=aGk=');
    expect([failed.exitCode, failed.out]).toEqual([2, '']);
    expect(failed.err).toMatch(warning);
    expect(failed.err.slice(warning.length)).toMatch(/^coffer: missing plaintext/);
    expect((await here.run('write transit/keys/other typ=ed25519')).err).toContain('did you mean "type"?');
    for (const line of [
      'write transit/encrypt/app plaintext=aGk= elsewhere=1',
      'write transit/encrypt/app plaintext=aGk= plaintxt=1',
      'write transit/encrypt/app plaintext=aGk= contxt= --quiet',
    ])
      expect((await here.run(line)).err, line).toBe('');
  });

  it('is named as well where a server refuses the request, or does not answer', async () => {
    const here = DirectoryHere.make({ COFFER_ADDR: 'http://127.0.0.1:1', COFFER_TOKEN: 't' });
    const { exitCode, err } = await here.run('write transit/encrypt/app plaintxt=aGk=');
    expect(exitCode).toBe(1);
    expect(err).toMatch(
      /^coffer: warning: KEY=VALUE: unknown parameter "plaintxt" is ignored; .*\ncoffer: cannot reach /,
    );
  });

  it('is found for every path of the catalogue that takes parameters', async () => {
    let count = 0;
    for (const { route, operation } of await loadRoutes(catalogue)) {
      if (operation.api !== 'vault' || route.method !== 'POST' || operation.freeForm) continue;
      const type = route.mount;
      if (type !== undefined && type !== 'transit' && !['approle', 'userpass', 'jwt', 'cert'].includes(type))
        continue;
      const above = type === undefined ? '' : type === 'transit' ? 'transit/' : `auth/${type}/`;
      // Another route of the operation may take more of them from the same path.
      const captured = routesOf(operation)
        .flatMap(({ parts }) => parts)
        .flatMap((part) => ('param' in part ? [part.param] : []));
      const path =
        above + route.parts.map((part) => ('text' in part ? part.text : part.optional ? '' : 'x')).join('');
      // The last segment is a word that the route names, such as a field of a role.
      if (path.endsWith('/x/x')) continue;
      const names = Object.keys(operation.params).filter((name) => !captured.includes(name));
      for (const name of names.filter(({ length }) => length > 4)) {
        const slip = name.slice(0, 2) + name.slice(3);
        if (!nearest(slip, names).includes(name)) continue;
        const [found] = await misspeltParameters({ method: 'POST', path, parameters: { [slip]: 'x' } });
        expect([path, found?.name, found?.meant], path).toEqual([path, slip, expect.arrayContaining([name])]);
        count++;
      }
    }
    expect(count).toBeGreaterThan(100);
  });
});
