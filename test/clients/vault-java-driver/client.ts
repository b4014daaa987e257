import { javaClient } from '../maven.ts';

export const client = javaClient('vault-java-driver', 'vault-java-driver of jopenlibs', '6.2.1', [
  'works with keys by path',
  'encrypts, signs and backs up by path',
  'asks for health, mounts and tokens',
]);
