import { onlyValue } from '../../transit/batch.ts';
import { type SignatureResult, sign } from '../../transit/signing.ts';
import { computing, type Outcome } from '../declaration/operation.ts';
import { base64 } from '../declaration/params.ts';
import { largeSignedInput } from './large-signed-input.ts';
import {
  batchOf,
  context,
  engineItems,
  existingKey,
  keyVersion,
  reference,
  resultLines,
  type SingleOrBatch,
  transitOperation,
} from './parameters.ts';
import { signatureParameters, signatureRequest, singleInput } from './signature-parameters.ts';

const input = base64({ help: 'Input to sign, base64 (may be empty).' });

export const declaration = transitOperation({
  route: 'POST sign/:name(/:hash_algorithm)',
  ...computing,
  params: {
    name: existingKey,
    input,
    context,
    key_version: keyVersion,
    ...signatureParameters,
    batch_input: batchOf('inputs', { input, context, reference }),
  },
  cli: {
    input: {
      param: 'input',
      as: 'bytes',
      help: 'Input to sign (may be empty).',
      what: 'the input',
      isOftenFile: true,
    },
    largeInput: largeSignedInput,
    result: { member: 'signature', as: 'text' },
    examples: {
      'coffer transit sign releases --in coffer-1.0.tar.gz': 'Sign a file',
      'coffer transit sign jwt --marshaling-algorithm jws --hash-algorithm sha2-256':
        'Sign with the encoding of JSON Web Signatures',
    },
  },
  async run({ engine }, values): Promise<Outcome<SingleOrBatch<SignedData, SignedLine>>> {
    const request = { ...signatureRequest(values), keyVersion: values.key_version };
    if (values.batch_input === undefined) {
      const item = { ...signItem(values), input: singleInput(engine, values.input) };
      const signed = onlyValue(await sign(engine, values.name, [item], request));
      const { publicKey } = signed;
      return { data: { ...answer(signed), public_key: publicKey || undefined } };
    }
    const results = await sign(engine, values.name, engineItems(values.batch_input, signItem), request);
    const line = (signed: SignatureResult): SignedLine => ({
      ...answer(signed),
      publickey: signed.publicKey || undefined,
    });
    return { data: { batch_results: resultLines(values.batch_input, results, line, { key_version: 0 }) } };
  },
});

const signItem = ({ input, context }: { readonly input?: string; readonly context?: string }) => ({
  input,
  context,
});

export interface Signature {
  readonly signature: string;
  readonly key_version: number;
}

/** The two names of the public key are Vault's: one for a single signature, another in a batch. */
type SignedData = Signature & { readonly public_key?: string | undefined };
type SignedLine = Signature & { readonly publickey?: string | undefined };

const answer = ({ signature, keyVersion }: SignatureResult): Signature => ({
  signature,
  key_version: keyVersion,
});
