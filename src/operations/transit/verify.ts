import { onlyValue } from '../../transit/batch.ts';
import { verify } from '../../transit/verification.ts';
import { computing, type Outcome } from '../declaration/operation.ts';
import { base64, text, type ValuesOf } from '../declaration/params.ts';
import { largeSignedInput } from './large-signed-input.ts';
import {
  batchOf,
  context,
  engineItems,
  existingKey,
  reference,
  resultLines,
  type SingleOrBatch,
  transitOperation,
} from './parameters.ts';
import { signatureParameters, signatureRequest, singleInput } from './signature-parameters.ts';

const input = base64({ help: 'Input that was signed or authenticated, base64 (may be empty).' });
const signature = text({
  long: true,
  help: 'Signature to verify, as printed by "sign".',
  cli: { excludes: ['hmac'], orFile: true, metavar: 'TEXT|@FILE' },
});
const hmac = text({
  long: true,
  help: 'HMAC to verify, as printed by "hmac".',
  cli: { orFile: true, metavar: 'TEXT|@FILE' },
});
const itemFields = { input, context, signature, hmac, reference };

export interface VerifyAnswer {
  readonly valid: boolean;
}

export const declaration = transitOperation({
  route: 'POST verify/:name(/:hash_algorithm)',
  ...computing,
  params: {
    name: existingKey,
    input,
    signature,
    hmac,
    context,
    ...signatureParameters,
    batch_input: batchOf('items, all with signature or all with hmac', itemFields),
  },
  cli: {
    batch: { bare: bareItem },
    input: {
      param: 'input',
      as: 'bytes',
      help: 'Input that was signed or authenticated (may be empty).',
      what: 'the signed input',
      isOftenFile: true,
    },
    largeInput: largeSignedInput,
    result: { member: 'valid', as: 'text' },
    // The result may come from a server, and may have any type then.
    holds: (data: VerifyAnswer) => data.valid === true,
    examples: {
      'coffer transit verify releases --in coffer-1.0.tar.gz --signature "$signature"':
        'Verify a file; exits with 5 if the signature is invalid',
      'printf \'order 17\' | coffer transit verify orders --hmac "$hmac"': 'Verify an HMAC',
    },
  },
  async run({ engine }, values): Promise<Outcome<SingleOrBatch<VerifyAnswer, VerifyAnswer>>> {
    const request = signatureRequest(values);
    if (values.batch_input === undefined) {
      const item = { ...verifyItem(values), input: singleInput(engine, values.input) };
      const valid = onlyValue(await verify(engine, values.name, [item], { request, single: true }));
      return { data: verdict(valid) };
    }
    const items = engineItems(values.batch_input, verifyItem);
    const results = await verify(engine, values.name, items, { request, single: false });
    return {
      data: { batch_results: resultLines(values.batch_input, results, verdict, { valid: false }) },
    };
  },
});

/**
 * Returns the minimal item of the same kind.
 * @see docs/decisions/0294
 */
function bareItem({ signature, hmac }: Readonly<Record<string, unknown>>) {
  if (signature !== undefined) return BARE.signature;
  return hmac === undefined ? BARE.none : BARE.hmac;
}

const BARE = { signature: { signature: '' }, hmac: { hmac: '' }, none: {} } as const;

const verifyItem = ({ input, context, signature, hmac }: Partial<ValuesOf<typeof itemFields>>) => ({
  input,
  context,
  signature,
  hmac,
});

const verdict = (valid: boolean): VerifyAnswer => ({ valid });
