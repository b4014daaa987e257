import { describe, expect, it } from 'vitest';
import { Crowded } from '../../../src/access/login/turns.ts';
import { CofferError, denied, invalid, unavailable, unconfirmed } from '../../../src/ground/errors.ts';
import { type Scene, staged } from './stage.ts';

const MAY = ['update transit/x'];
const ALL = ['authenticate', 'follow', 'read', 'record request', 'run', 'record response'];
/** Steps up to one. */
const upTo = (step: string): string[] => ALL.slice(0, ALL.indexOf(step) + 1);
const RECORDED = 'record response';
const done = async (scene: Scene) => {
  const { answer, steps } = await staged(scene);
  return { answer, steps };
};

describe('a request', () => {
  it('is authenticated, authorized, read, recorded, run and recorded, in this order', async () => {
    const { answer, steps, recorded, capabilities } = await staged({ rights: MAY });
    expect([answer, steps]).toEqual(['done', ALL]);
    expect(recorded).toMatchObject({ status: 200, data: { a: 1 } });
    expect(capabilities).toEqual(['update']);
  });

  it.each<[string, Scene, string, readonly string[]]>([
    ['without a token', { asked: { token: undefined } }, 'unauthenticated', ['follow', RECORDED]],
    ['with a token that does not hold', {}, 'unauthenticated', [...upTo('follow'), RECORDED]],
    ['without the right', { rights: ['read transit/x'] }, 'denied', [...upTo('follow'), RECORDED]],
    [
      'without the right for every spelling of the path',
      { rights: MAY, endpoint: { policyPaths: () => ({ paths: ['transit/x', 'transit/X'] }) } },
      'denied',
      [...upTo('follow'), RECORDED],
    ],
    [
      'to what is nowhere',
      { rights: MAY, endpoint: { policyPaths: async () => ({ paths: ['transit/x'], leadNowhere: true }) } },
      'denied',
      [...upTo('follow'), RECORDED],
    ],
    [
      'to a path that there is not',
      { rights: ['update transit/x'], endpoint: { match: 'unsupported-path', operation: undefined } },
      'unsupported-path',
      [...upTo('follow'), RECORDED],
    ],
    [
      'without rights to a path that there is not',
      { rights: [], endpoint: { match: 'unsupported-path', operation: undefined } },
      'denied',
      [...upTo('follow'), RECORDED],
    ],
    [
      'that the door refuses',
      { rights: MAY, door: { refused: () => ({ answer: 'refused', status: 415 }) } },
      'refused',
      [...upTo('follow'), RECORDED],
    ],
    [
      'whose body is no JSON',
      { rights: MAY, sent: new SyntaxError('secret') },
      'invalid: the parameters of the request cannot be read',
      [...upTo('read'), RECORDED],
    ],
    [
      'with a parameter that is not allowed',
      { rights: MAY, sent: { forbidden: 1 } },
      'denied',
      [...upTo('read'), RECORDED],
    ],
    [
      'that needs sudo beside its right',
      { rights: MAY, operation: { capability: 'sudo' }, endpoint: { capability: 'update' } },
      'denied',
      [...upTo('follow'), RECORDED],
    ],
    [
      'to have a text wrapped',
      { rights: MAY, asked: { wrapTtl: 60 }, operation: { answersText: true } },
      'invalid: this response cannot be wrapped',
      [...upTo('read'), RECORDED],
    ],
    [
      'of a value that is none',
      { rights: MAY, sent: { value: {} } },
      expect.stringMatching(/^invalid: /),
      [...upTo('record request'), RECORDED],
    ],
  ])('%s ends there, and is recorded as refused', async (_, scene, answer, steps) => {
    const found = await staged(scene);
    expect([found.answer, found.steps]).toEqual([answer, steps]);
    expect(found.recorded?.status).not.toBe(200);
  });

  it.each<[string, Scene]>([
    [
      'with sudo',
      {
        rights: [...MAY, 'sudo transit/x'],
        operation: { capability: 'sudo' },
        endpoint: { capability: 'update' },
      },
    ],
    ['of anybody with a token', { rights: [], operation: { anyToken: true } }],
    [
      'of an identity that the door has found',
      { asked: { token: undefined, identity: { accessor: 'a', acl: { allows: () => true } } } },
    ],
    ['of a stranger, if it is open to all', { asked: { token: undefined }, operation: { strangers: true } }],
    ['with a token that does not hold, if it is open to all', { operation: { strangers: true } }],
  ])('%s is run', async (_, scene) => {
    const { answer, steps } = await done(scene);
    expect(answer).toBe('done');
    expect(steps).toContain('run');
  });

  it('of the owner needs neither token nor right, but the secret again for what outlives the lock', async () => {
    const asked = { byOwner: true };
    const steps = ['follow', ...ALL.slice(2)];
    const withoutSecret = true;
    expect(await done({ asked, operation: { withoutSecret } })).toEqual({ answer: 'done', steps });
    const again =
      'denied: the secret of the store is required, because what the command prints or allows can be used even';
    const { answer, steps: short } = await done({ asked });
    expect([answer.startsWith(again), short]).toEqual([true, ['follow', 'read', RECORDED]]);
    const keepsIn = { withoutSecret: (raw: object) => !Object.hasOwn(raw, 'value') };
    expect((await done({ asked, operation: keepsIn })).answer).toBe('done');
    expect((await done({ asked, operation: keepsIn, sent: { value: 'a' } })).answer).toMatch(/^denied/);
    expect((await done({ rights: MAY })).answer).toBe('done');
  });

  it('wants to create what is not there, and to update what is', async () => {
    const judged = async (isThere: boolean, rights: readonly string[]) => {
      const { answer, capabilities } = await staged({ rights, operation: { exists: async () => isThere } });
      return [answer, ...capabilities];
    };
    expect(await judged(true, MAY)).toEqual(['done', 'update']);
    expect(await judged(false, MAY)).toEqual(['denied']);
    expect(await judged(false, ['create transit/x'])).toEqual(['done', 'create']);
    expect(await judged(true, ['create transit/x'])).toEqual(['denied']);
    expect(await judged(true, ['read transit/x'])).toEqual(['denied']);
  });

  it.each<[string, object, boolean]>([
    ['reads', { capability: 'read' }, false],
    ['lists', { capability: 'list' }, false],
    ['computes', { capability: 'update', computes: true }, false],
    ['updates', { capability: 'update' }, true],
    ['deletes', { capability: 'delete' }, true],
    ['may create while it computes', { capability: 'create', computes: true }, true],
  ])('that %s is recorded before it is run: %j, %s', async (_, operation, isRecorded) => {
    const { capability = '' } = operation as { capability?: string };
    const { answer, steps } = await done({ rights: [`${capability} transit/x`], operation });
    expect([answer, steps.includes('record request')]).toEqual(['done', isRecorded]);
  });

  it('says what it does not know, unless anything may be sent', async () => {
    const sent = { value: 'a', other: 1 };
    expect((await done({ rights: MAY, sent })).answer).toBe('done other');
    expect((await done({ rights: MAY, sent, operation: { freeForm: true } })).answer).toBe('done');
  });
});

describe('a request of which a step fails', () => {
  const gone = unavailable('the disk is gone');

  it.each(['authenticate', 'follow'])('is answered at once, without a record: %s', async (name) => {
    const steps = upTo(name);
    expect(await done({ rights: MAY, fails: { [name]: gone } })).toEqual({
      answer: 'unavailable: the disk is gone',
      steps,
    });
  });

  it('is not run if it cannot be recorded before', async () => {
    const { answer, steps } = await done({ rights: MAY, fails: { 'record request': gone } });
    expect([answer, steps]).toEqual(['unavailable: the disk is gone', [...upTo('record request'), RECORDED]]);
  });

  const READ: Scene = { rights: ['read transit/x'], operation: { capability: 'read' } };
  it.each<[string, Scene, RegExp]>([
    ['after reading, says that', READ, /^unrecorded: unavailable: the disk is gone$/],
    [
      'after a change, says that it was made',
      { rights: MAY },
      /^unrecorded: unconfirmed: the change was made, but/,
    ],
    ['after a refusal, says that', { rights: [] }, /^unrecorded: unavailable: the disk is gone$/],
    [
      'after a change that failed, says that',
      { rights: MAY, outcome: invalid('no') },
      /^unrecorded: unavailable: the disk is gone$/,
    ],
    [
      'after a change that may have been made, says that it may',
      { rights: MAY, outcome: unconfirmed('it may have been made') },
      /^unrecorded: unconfirmed: it may have been made$/,
    ],
  ])('is not answered with its result: the record %s', async (_, scene, answer) => {
    const found = await done({ ...scene, fails: { [RECORDED]: gone } });
    expect(found.answer).toMatch(answer);
    expect(found.steps.at(-1)).toBe(RECORDED);
  });
});

describe('a wrapped answer', () => {
  const wrapping = (more: Scene = {}) =>
    staged({ rights: MAY, ...more, asked: { wrapTtl: 60, ...more.asked } });

  it('is stored, and its token is sent in its place', async () => {
    const { answer, steps, wrapped } = await wrapping();
    expect([answer, steps]).toEqual(['wrapped', ALL.toSpliced(5, 0, 'wrap')]);
    expect(wrapped).toEqual([{ answer: 'done', ttl: 60, path: 'transit/x', heldAccessor: undefined }]);
  });

  it('is of the path of a list with a slash, and names the accessor of what it holds', async () => {
    const kept = async (more: Scene) => (await wrapping(more)).wrapped[0];
    expect(await kept({ endpoint: { method: 'LIST' } })).toMatchObject({ path: 'transit/x/' });
    const data = { secret_id: 's', secret_id_accessor: 'accessor' };
    expect(await kept({ outcome: { data } })).toMatchObject({ heldAccessor: 'accessor' });
    expect(await kept({ outcome: { data }, operation: { freeForm: true } })).toMatchObject({
      heldAccessor: undefined,
    });
    const alone = { secret_id_accessor: 'accessor' };
    expect(await kept({ outcome: { data: alone } })).toMatchObject({ heldAccessor: undefined });
    const auth = { accessor: 'of a token' };
    expect(await kept({ outcome: { auth, data } as object })).toMatchObject({ heldAccessor: 'of a token' });
  });

  it.each<[string, Scene]>([
    ['nobody asks for it', { asked: { wrapTtl: undefined } }],
    ['it is wrapped already', { outcome: { wrapInfo: {} } as object }],
    ['there is nothing in a list', { outcome: { data: {}, nothingListed: true } }],
    ['a stranger asks', { asked: { token: undefined }, operation: { strangers: true } }],
    ['there is nothing to keep', { door: { kept: () => undefined } }],
    ['the door keeps nothing', { door: { kept: undefined } }],
  ])('is none where %s', async (_, scene) => {
    const { steps, wrapped } = await wrapping(scene);
    expect([steps.includes('run'), wrapped]).toEqual([true, []]);
  });

  it('is given to a stranger who logs in', async () => {
    const outcome = { auth: { accessor: 'a' } } as object;
    const scene = { asked: { token: undefined }, operation: { strangers: true }, outcome };
    expect((await wrapping(scene)).answer).toBe('wrapped');
  });

  it('that cannot be stored is not sent open, and a change that was made is told', async () => {
    const fails = { wrap: unavailable('the disk is gone') };
    expect((await wrapping({ fails })).answer).toMatch(/^unconfirmed: the change was made, but/);
    const reading = { fails, rights: ['read transit/x'], operation: { capability: 'read' } };
    expect((await wrapping(reading)).answer).toBe('unavailable: the disk is gone');
  });
});

describe('a login', () => {
  const login: Scene = {
    operation: { unauthenticated: true },
    endpoint: { mount: { uuid: 'u', path: 'auth/a' } },
  };

  it('is of nobody, whatever token comes along', async () => {
    const { answer, steps } = await done(login);
    expect([answer, steps]).toEqual(['done', ['follow', ...ALL.slice(2), 'end false']]);
  });

  it('is refused unread while there are too many, and recorded', async () => {
    expect(await done({ ...login, isBarred: true })).toEqual({
      answer: 'too often: 1',
      steps: ['follow', RECORDED],
    });
    const { answer } = await done({ ...login, isBarred: true, door: { tooOften: undefined } });
    expect(answer).toBe('unauthenticated');
  });

  it.each<[string, Error, boolean]>([
    ['invalid', invalid('no'), true],
    ['denied', denied('no'), true],
    ['not found', new CofferError('not-found', 'no'), true],
    ['too large', new CofferError('too-large', 'no'), true],
    ['unsupported', new CofferError('unsupported', 'no'), true],
    ['one of too many at once', new Crowded('no'), true],
    ['not to be judged now', unavailable('no'), false],
    ['sealed', new CofferError('sealed', 'no'), false],
    ['a defect', new TypeError('no'), false],
  ])('that is %s counts as failed if its caller is at fault', async (_, outcome, hasFailed) => {
    const { steps } = await done({ ...login, outcome });
    expect(steps.includes('login failed')).toBe(hasFailed);
    expect(steps.at(-1)).toBe(`end ${hasFailed}`);
  });

  it('ends once, also where it cannot be recorded', async () => {
    const { steps } = await done({ ...login, fails: { [RECORDED]: unavailable('no') } });
    expect(steps.filter((step) => step.startsWith('end'))).toEqual(['end false']);
  });
});
