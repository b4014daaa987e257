import { policyName } from '../../access/policies.ts';
import { text } from '../declaration/params.ts';

export const policyNameParam = {
  ...text({
    help: 'The policy; names are in lower case.',
    required: true,
    cli: { positional: true, metavar: 'NAME', refersTo: 'policy' },
  }),
  understoodAs: policyName,
};
