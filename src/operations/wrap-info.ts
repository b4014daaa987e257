import type { WrapInfo, WrappedAnswer } from '../access/wrapping.ts';
import { printGoTime } from '../ground/clock.ts';

/** Formats wrapping information for the API. */
export const printWrapped = ({ text, accessor, token, heldAccessor }: WrappedAnswer): WrapInfo => ({
  token: text,
  accessor,
  ttl: token.creationTtl,
  creation_time: printGoTime(token.createdMs),
  creation_path: token.path,
  wrapped_accessor: heldAccessor,
});
